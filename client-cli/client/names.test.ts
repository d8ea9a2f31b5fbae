import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { checkName, decodeBook, encodeEntry, findEntry, listBook, type NameEntry, parseReference } from './names.ts'
import { splits } from './resolve.ts'

const root = (text: string): string => cidOfBytes(RAW, Buffer.from(text)).toString()
function entry(over: Partial<NameEntry>): NameEntry {
  return { name: '', kind: 'data', root: root('x'), bytes: 1, project: 'p', atMs: 1, executables: [], source: 's', ...over }
}

describe('names', () => {
  it('survive being written, a damaged line, and lines of another kind', () => {
    const book = [entry({ name: 'a', executables: ['run'] }), entry({ name: 'b', kind: 'image' })]
    assert.deepEqual(decodeBook(`${book.map(encodeEntry).join('{"half\n')}\n[]\nnull\n{"root":"nonsense","kind":"data"}\n`), book)
  })
  it('mean the newest of that name, of this project and kind only', () => {
    const book = [
      entry({ name: 'a', root: root('old') }),
      entry({ name: 'a', root: root('new') }),
      entry({ name: 'a', root: root('other'), project: 'q' }),
      entry({ name: 'a', kind: 'image', root: root('image') })
    ]
    assert.equal(findEntry(book, 'p', 'a', 'data')?.root, root('new'))
    assert.equal(findEntry(book, 'p', 'a', 'image')?.root, root('image'))
    assert.equal(findEntry(book, 'q', 'a')?.root, root('other'))
    assert.equal(findEntry(book, 'p', 'b'), undefined)
    assert.deepEqual(
      listBook(book, 'p', 'data').map((row) => row.root),
      [root('new')]
    )
  })
  it('give way to ids and unique prefixes of them', () => {
    const roots = Array.from({ length: 40 }, (_, index) => root(String(index))).sort()
    const book = roots.map((cid) => entry({ root: cid }))
    const [first = '', second = ''] = roots
    let common = 0
    while (first[common] === second[common]) common++
    assert.equal(findEntry(book, 'p', first)?.root, first)
    assert.equal(findEntry(book, 'p', first.slice(0, Math.max(20, common + 1)))?.root, first)
    // Forty roots begin with `bafkrei` and one of 32 letters: two of them share that letter.
    const twin = roots.find((cid, index) => cid.slice(0, 8) === roots[index + 1]?.slice(0, 8)) ?? ''
    const close = [entry({ root: twin }), entry({ root: `${twin.slice(0, -1)}${twin.endsWith('a') ? 'b' : 'a'}` })]
    assert.throws(() => findEntry(close, 'p', twin.slice(0, 20)), { code: 'ambiguous' })
    assert.equal(findEntry(book, 'p', twin.slice(0, 8)), undefined)
  })
  it('are refused when they could be taken for something else', () => {
    for (const good of ['a', 'alpine:3.20', 'library/alpine', 'my-data_2']) checkName(good)
    for (const bad of ['', './x', '/x', '-x', 'a b', root('x'), 'x'.repeat(300)]) assert.throws(() => checkName(bad), { code: 'usage' })
  })
})

describe('references', () => {
  it('are paths of this machine only when they begin like one', () => {
    for (const path of ['.', '..', './a', '../a', '/a', '~/a']) assert.deepEqual(parseReference(path), { kind: 'local', path })
    assert.deepEqual(parseReference('k3vq.0/out/a.txt'), { kind: 'named', of: 'k3vq.0', path: 'out/a.txt', whole: 'k3vq.0/out/a.txt' })
    assert.deepEqual(parseReference('data/'), { kind: 'named', of: 'data', path: '', whole: 'data/' })
    for (const bad of ['', 'a/../b', 'a//b', 'a/./b']) assert.throws(() => parseReference(bad), { code: 'usage' })
  })
  it('may have slashes in the name: the longest comes first', () => {
    assert.deepEqual(splits('a/b/c'), [
      { of: 'a/b/c', path: '' },
      { of: 'a/b', path: 'c' },
      { of: 'a', path: 'b/c' }
    ])
  })
})
