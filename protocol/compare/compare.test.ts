/** What counts as agreeing, by examples that people can check and by properties that must hold for every file. */
import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { crc32, deflateRawSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import { hintOf } from './hints.ts'
import { compareNpy, halfOf } from './npy.ts'
import { compareNpz } from './npz.ts'
import { isClose, numberOf, type Tolerance } from './numbers.ts'
import { matches, parseRules, rulesFault, wayOf } from './rules.ts'
import { chunksOf, fileOf, treeOf } from './testing.ts'
import { compareTexts, type TextFormat, tokensOf } from './tokens.ts'
import { compareTrees, treeDifferences } from './trees.ts'

const EXACT: Tolerance = { abs: 0, rel: 0 }
const MILLIONTH: Tolerance = { abs: 0, rel: 1e-6 }

const tolerance = fc.record({ abs: fc.double({ min: 0, max: 10, noNaN: true }), rel: fc.double({ min: 0, max: 0.5, noNaN: true }) })

async function agree(a: string, b: string, format: TextFormat, within = MILLIONTH): Promise<boolean> {
  return (await compareTexts(chunksOf(a), chunksOf(b), format, within)) === undefined
}

describe('numbers', () => {
  it('are close in a way that is reflexive, symmetric, and grows with the tolerance', () => {
    const number = fc.double()
    fc.assert(
      fc.property(number, number, tolerance, tolerance, (a, b, some, more) => {
        const wider = { abs: some.abs + more.abs, rel: Math.max(some.rel, more.rel) }
        assert.ok(isClose(a, a, EXACT))
        assert.equal(isClose(a, b, some), isClose(b, a, some))
        if (isClose(a, b, some)) assert.ok(isClose(a, b, wider))
      })
    )
  })

  it('NaN equals NaN, an infinity only itself, and what no double holds is no number', () => {
    assert.ok(isClose(Number.NaN, Number.NaN, EXACT) && !isClose(Number.NaN, 1, { abs: 1e300, rel: 0.9 }))
    assert.ok(!isClose(Number.POSITIVE_INFINITY, 1e308, { abs: 1e308, rel: 0.9 }) && !isClose(Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, MILLIONTH))
    assert.deepEqual(['1.5', '-2e3', '1D-2', '.5', '3.', ' 7 ', '-inf', '1e999', '1.5kg', '0x10', ''].map(numberOf), [
      1.5,
      -2000,
      0.01,
      0.5,
      3,
      7,
      Number.NEGATIVE_INFINITY,
      undefined,
      undefined,
      undefined,
      undefined
    ])
    assert.ok(Number.isNaN(numberOf('nan')))
  })
})

describe('text, CSV and JSON', () => {
  it('agree when only numbers differ, and little', async () => {
    assert.ok(await agree('energy = 1.0000000 eV\n', 'energy =  1.0000001 eV\n', 'text'))
    assert.ok(!(await agree('energy = 1.00 eV\n', 'energy = 1.01 eV\n', 'text')))
    assert.ok(!(await agree('1.0\n2.0\n', '1.0 2.0\n', 'text')))
    assert.ok(await agree('x,y\r\n1.0,"2.0000001"\r\n', 'x,y\n1.0,2.0\n', 'csv'))
    assert.ok(!(await agree('a b,1\n', 'a  b,1\n', 'csv')))
    assert.ok(!(await agree('x,",",y', 'x,,,y', 'csv')))
    assert.ok(await agree('{"a": [1.0, 2.0]}', '{"a":[1.0000001,2.0]}\n', 'json'))
    assert.ok(!(await agree('{"a": "1.0"}', '{"a": "1.0000001"}', 'json')))
    assert.ok(!(await agree('{"a": 1}', '{"b": 1}', 'json')))
    assert.ok(!(await agree('[1, 2]', '[1, 2, 3]', 'json')))
    assert.ok(!(await agree('["a b"]', '["a  b"]', 'json')))
  })

  it('a number longer than any is a word', async () => {
    const long = '1'.repeat(5000)
    assert.ok(!(await agree(`${long}1.0`, `${long}1.0000001`, 'text')))
    assert.ok(await agree(`${long} 1.0`, `${long} 1.0000001`, 'text'))
  })

  const text = fc.array(fc.constantFrom('1.5', '"', '""', ',', '\n', '\r\n', ' ', '\\', '\\"', 'word', '{', ']', '-7e3', '\xa0', '"a, b"', 'x'.repeat(4095)), {
    maxLength: 12
  })
  const format = fc.constantFrom<TextFormat>('text', 'csv', 'json')

  it('tokens are the same however the chunks are cut', async () => {
    await fc.assert(
      fc.asyncProperty(text, format, fc.integer({ min: 1, max: 9 }), async (parts, kind, chunk) => {
        const all = async (chunkBytes: number): Promise<string[]> => {
          const found: string[] = []
          for await (const tokens of tokensOf(chunksOf(Buffer.from(parts.join(''), 'latin1'), chunkBytes), kind)) found.push(...tokens)
          return found
        }
        assert.deepEqual(await all(chunk), await all(1 << 20))
      }),
      { numRuns: 60 }
    )
  })

  it('agreeing is reflexive, symmetric, and grows with the tolerance', async () => {
    const numbers = fc.array(fc.double({ min: -100, max: 100, noNaN: true }), { minLength: 1, maxLength: 4 })
    await fc.assert(
      fc.asyncProperty(numbers, numbers, format, tolerance, async (x, y, kind, within) => {
        const [a, b] = [x.join(','), y.join(',')]
        assert.ok(await agree(a, a, kind, EXACT))
        const one = await agree(a, b, kind, within)
        assert.equal(one, await agree(b, a, kind, within))
        if (one) assert.ok(await agree(a, b, kind, { abs: within.abs + 1, rel: within.rel }))
      }),
      { numRuns: 100 }
    )
  })
})

function npy(descr: string, shape: string, data: Uint8Array): Buffer {
  const text = `{'descr': '${descr}', 'fortran_order': False, 'shape': (${shape}), }`
  const header = Buffer.from(`${text.padEnd(117)}\n`)
  return Buffer.concat([Buffer.from('\x93NUMPY\x01\x00', 'latin1'), Buffer.from([header.length & 255, header.length >> 8]), header, data])
}

function floats(values: readonly number[], bytes: 4 | 8, littleEndian = true): Uint8Array {
  const view = new DataView(new ArrayBuffer(values.length * bytes))
  for (const [index, value] of values.entries())
    if (bytes === 8) view.setFloat64(index * 8, value, littleEndian)
    else view.setFloat32(index * 4, value, littleEndian)
  return new Uint8Array(view.buffer)
}

async function npyAgree(a: Uint8Array, b: Uint8Array): Promise<boolean> {
  return (await compareNpy(chunksOf(a), chunksOf(b), MILLIONTH)) === undefined
}

describe('NumPy files', () => {
  const two = npy('<f8', '2,', floats([1, -2], 8))

  it('floating-point numbers are close, of either byte order; other types and shapes never are', async () => {
    assert.ok(await npyAgree(two, npy('<f8', '2,', floats([1 + 1e-8, -2], 8))))
    assert.ok(await npyAgree(two, npy('>f8', '2,', floats([1, -2], 8, false))))
    assert.ok(!(await npyAgree(two, npy('<f8', '2,', floats([1.1, -2], 8)))))
    assert.ok(!(await npyAgree(two, npy('<f4', '2,', floats([1, -2], 4)))))
    assert.ok(!(await npyAgree(two, npy('<f8', '1, 2', floats([1, -2], 8)))))
    assert.ok(await npyAgree(npy('<c16', '1,', floats([1, -2], 8)), npy('<c16', '1,', floats([1, -2 - 1e-8], 8))))
    assert.deepEqual([0x3c00, 0xc000, 0x7c00, 0x0001].map(halfOf), [1, -2, Number.POSITIVE_INFINITY, 2 ** -24])
  })

  it('integers, text and what is not understood are equal byte for byte', async () => {
    const bytes = (...values: number[]): Uint8Array => Uint8Array.from(values)
    assert.ok(!(await npyAgree(npy('<i4', '1,', bytes(1, 0, 0, 1)), npy('<i4', '1,', bytes(2, 0, 0, 1)))))
    assert.ok(await npyAgree(npy('<i4', '1,', bytes(1, 2, 3, 4)), npy('>i4', '1,', bytes(4, 3, 2, 1))))
    assert.ok(!(await npyAgree(npy('|O', '1,', bytes(1)), npy('|O', '1,', bytes(2)))))
    assert.ok(await npyAgree(npy('|O', '1,', bytes(1)), npy('|O', '1,', bytes(1))))
  })

  it('one that ends early, or goes on after its last item, agrees with none', async () => {
    assert.ok(!(await npyAgree(two, two.subarray(0, -1))))
    assert.ok(!(await npyAgree(two, Buffer.concat([two, Buffer.from('x')]))))
    assert.ok(!(await npyAgree(two, Buffer.from('short'))))
    assert.ok(!(await npyAgree(npy('<f8', '99999999999,', two), npy('<f8', '99999999999,', Buffer.concat([two, two])))))
  })

  it('archives agree by what they hold, however it is packed', async () => {
    const near = npy('<f8', '2,', floats([1 + 1e-8, -2], 8))
    const far = npy('<f8', '2,', floats([3, -2], 8))
    const found = async (a: Uint8Array, b: Uint8Array): Promise<string | undefined> => compareNpz(fileOf(a), fileOf(b), MILLIONTH)
    assert.equal(await found(zip({ 'x.npy': two, 'y.npy': near }, false), zip({ 'y.npy': two, 'x.npy': two }, true)), undefined)
    assert.match((await found(zip({ 'x.npy': two }, false), zip({ 'x.npy': far }, true))) ?? '', /^x\.npy: item 0: 1 and 3$/)
    assert.equal(await found(zip({ 'x.npy': two }, false), zip({ 'x.npy': two, 'z.npy': two }, false)), 'only one has z.npy')
    assert.match((await found(zip({ 'x.npy': two }, true, 5), zip({ 'x.npy': two }, true))) ?? '', /longer than its archive says/)
    assert.match((await found(zip({ 'x.npy': two }, true, two.length, 1), zip({ 'x.npy': two }, true))) ?? '', /not what its archive says/)
    assert.equal(await found(Buffer.from('nothing'), Buffer.from('nothing else')), 'no zip archive')
    const broken = zip({ 'x.npy': two }, true)
    broken.fill(0xff, 40, 60)
    assert.notEqual(await found(broken, zip({ 'x.npy': two }, true)), undefined)
  })
})

/** `bytes` and `crc` lie when they are given. */
function zip(files: Readonly<Record<string, Uint8Array>>, deflate: boolean, bytes?: number, crc?: number): Buffer {
  const locals: Buffer[] = []
  const central: Buffer[] = []
  let at = 0
  for (const [name, content] of Object.entries(files)) {
    const data = deflate ? deflateRawSync(content) : content
    const fields = Buffer.alloc(26)
    fields.writeUInt16LE(20, 0)
    fields.writeUInt16LE(deflate ? 8 : 0, 4)
    fields.writeUInt32LE(crc ?? crc32(content), 10)
    fields.writeUInt32LE(data.length, 14)
    fields.writeUInt32LE(bytes ?? content.length, 18)
    fields.writeUInt16LE(name.length, 22)
    const local = Buffer.concat([Buffer.from('PK\x03\x04', 'latin1'), fields, Buffer.from(name), data])
    const tail = Buffer.alloc(14)
    tail.writeUInt32LE(at, 10)
    central.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00', 'latin1'), fields, tail, Buffer.from(name)]))
    locals.push(local)
    at += local.length
  }
  const directory = Buffer.concat(central)
  const end = Buffer.alloc(22)
  end.writeUInt32LE(0x06054b50, 0)
  end.writeUInt16LE(locals.length, 10)
  end.writeUInt32LE(directory.length, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...locals, directory, end])
}

describe('rules', () => {
  it('say for each file how it is compared; the first that names it holds', () => {
    const rules = parseRules(['rel=1e-9', '*.csv: rel=1e-6 abs=0.1', 'log/**: ignore', '*.raw: exact', '*.field: rel=0.1'])
    assert.equal(rulesFault(rules), undefined)
    assert.deepEqual(wayOf('deep/a.csv', rules), { abs: 0.1, rel: 1e-6, format: 'csv' })
    assert.equal(wayOf('log/deep/x', rules), undefined)
    assert.deepEqual(wayOf('a.json', rules), { abs: 0, rel: 1e-9, format: 'json' })
    assert.deepEqual(wayOf('a.raw', rules)?.format, 'bytes')
    assert.deepEqual(wayOf('a.field', rules)?.format, 'text')
    assert.deepEqual(wayOf('a.png', rules)?.format, 'bytes')
    for (const wrong of ['*.csv: rel=2', 'ignore', '*.csv:', '*.csv: near', 'rel=-1']) assert.throws(() => parseRules([wrong]), Error, wrong)
  })

  it('refuse what is no rule', () => {
    for (const wrong of [null, {}, { abs: 0, rel: 0 }, { abs: 0, rel: 1, files: [] }, { abs: 0, rel: 0, files: [{}] }, { abs: 0, rel: 0, files: [], more: 1 }])
      assert.equal(typeof rulesFault(wrong), 'string')
  })

  it('patterns name paths', () => {
    const yes: [string, string][] = [
      ['*.csv', 'a/b.csv'],
      ['a/*.csv', 'a/b.csv'],
      ['a/**', 'a/b/c'],
      ['**/b/*', 'a/b/c'],
      ['**/b', 'b'],
      ['?.txt', 'a.txt'],
      ['/a', 'a']
    ]
    const no: [string, string][] = [
      ['*.csv', 'a.csvx'],
      ['a/*.csv', 'a/b/c.csv'],
      ['**/b', 'ab'],
      ['?.txt', 'ab.txt'],
      ['a/*', 'b/a']
    ]
    for (const [pattern, path] of yes) assert.ok(matches(pattern, path), `${pattern} ${path}`)
    for (const [pattern, path] of no) assert.ok(!matches(pattern, path), `${pattern} ${path}`)
  })
})

describe('outputs', () => {
  const rules = parseRules(['*.csv: rel=1e-6', 'time.txt: ignore'])

  it('agree when all files that count do', async () => {
    const a = treeOf({ 'x/a.csv': '1.0,2', 'same.bin': 'abc', 'time.txt': 'noon' })
    assert.equal(await compareTrees(a, treeOf({ 'x/a.csv': '1.0000001,2', 'same.bin': 'abc' }), rules), undefined)
    assert.equal((await compareTrees(a, treeOf({ 'x/a.csv': '1.1,2', 'same.bin': 'abc' }), rules))?.path, 'x/a.csv')
    assert.equal((await compareTrees(a, treeOf({ 'x/a.csv': '1.0,2', 'same.bin': 'abd' }), rules))?.message, 'their bytes differ')
    assert.equal((await compareTrees(a, treeOf({ 'x/a.csv': '1.0,2' }), rules))?.message, 'only one has it')
    assert.equal((await compareTrees(a, treeOf({ 'x/a.csv/b': '', 'same.bin': 'abc' }), rules))?.message, 'a file in one, a folder in the other')
  })

  it('files that differ are named without reading one', async () => {
    const found: string[] = []
    const unread = (files: Record<string, string>) => ({ ...treeOf(files), read: () => assert.fail('read') })
    for await (const { path, what } of treeDifferences(unread({ a: '1', 'b/c': '2', 'd/e': '3', z: '' }), unread({ a: '2', 'd/e': '3', 'd/f': '4', z: '' })))
      found.push(`${what} ${path}`)
    assert.deepEqual(found, ['differs a', 'only_a b/c', 'only_b d/f'])
  })

  it('any two trees: nobody differs from itself, and the order of asking does not matter', async () => {
    const files = fc.dictionary(fc.constantFrom('a', 'b/c', 'b/d', 'e.csv', 'f/g/h'), fc.constantFrom('', '1', '1.0000001', '2'))
    await fc.assert(
      fc.asyncProperty(files, files, async (x, y) => {
        const [a, b] = [treeOf(x), treeOf(y)]
        assert.equal(await compareTrees(a, a, rules), undefined)
        assert.equal((await compareTrees(a, b, rules)) === undefined, (await compareTrees(b, a, rules)) === undefined)
      })
    )
  })
})

describe('hints', () => {
  const kindOf = async (path: string, a: Uint8Array | string, b: Uint8Array | string): Promise<string> => (await hintOf(path, fileOf(a), fileOf(b))).kind

  it('tell clocks, orders, places, draws and rounding apart', async () => {
    assert.equal(await kindOf('a.csv', '1.0,x', '1.0000000001,x'), 'numbers')
    assert.equal(await kindOf('a', 'done at 2024-05-01\n', 'done at 2025-06-02\n'), 'time')
    for (const [early, late] of [
      ['1795457406', '1795457408'],
      ['ended 1795457406.25, took 3', 'ended 1795457408.5, took 3'],
      ['{"at": 1795457406123}', '{"at": 1795457408001}']
    ] as const)
      assert.equal(await kindOf('a', `same\n${early}\n`, `same\n${late}\n`), 'time', early)
    assert.equal(await kindOf('a', '1795457406.25 0.5\n', '1795457406.25 0.500000001\n'), 'numbers')
    assert.equal(await kindOf('a', 'x\ny\n', 'y\nx\n'), 'order')
    assert.equal(await kindOf('a', 'wrote /tmp/ab', 'wrote /tmp/cd'), 'place')
    assert.equal(await kindOf('a', 'id 123e4567-e89b-12d3', 'id 223e4567-e89b-12d3'), 'random')
    assert.equal(await kindOf('a', 'cat', 'dog'), 'other')
    assert.equal((await hintOf('a', fileOf('cat'), fileOf('cat\ndog'))).message, 'line 2, "" and "dog"')
    const [early, late] = [gzipSync('hello'), gzipSync('hello')]
    late[4] = 1
    assert.equal(await kindOf('a.gz', early, late), 'time')
    assert.equal(await kindOf('a.bin', Uint8Array.of(0, 1), Uint8Array.of(0, 2)), 'other')
  })

  it('a rule that is given makes them agree', async () => {
    const [a, b] = ['x,1.00001\n', 'x,1.00002\n']
    const { rule } = await hintOf('dir/a.csv', fileOf(a), fileOf(b))
    assert.equal(await compareTrees(treeOf({ 'dir/a.csv': a }), treeOf({ 'dir/a.csv': b }), parseRules([rule ?? ''])), undefined)
  })
})
