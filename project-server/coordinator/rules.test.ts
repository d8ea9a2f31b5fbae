/** RULES.md says where each rule is shown: it must name every rule once, and tests that are there. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { describe, it } from 'node:test'

const PAGE = join(import.meta.dirname, 'RULES.md')
/** Ranges as `S01-S08`. */
const ROWS = `X07 X08 X12 X13 X17 S01-S08 S09 S10 S11 S13-S17 S19 S20 S22
  D08 D09 D16 D18 D19 F01-F21 F23 F24 O08 O09 Q05 Q06 Z02`
const TASKS_OF_THE_COORDINATOR = 8

interface Line {
  readonly id: string
  readonly cell: string
}

interface Named {
  readonly id: string
  readonly title: string
  readonly path: string
}

const page = readFileSync(PAGE, 'utf8')
const lines: Line[] = [...page.matchAll(/^\| ([A-Z]\d\d|\d) \|[^|]*\| ([^|]*) \|$/gm)].map(([, id = '', cell = '']) => ({ id, cell }))
const rows = lines.filter(({ id }) => id.length > 1)
const named: Named[] = lines.flatMap(({ id, cell }) =>
  [...cell.matchAll(/\[(.+?)\]\(([^()]+)\)/g)].map(([, title = '', path = '']) => ({ id, title, path: join(dirname(PAGE), path) }))
)

describe('the page of rules', () => {
  it('has every rule once, and no other', () => {
    assert.deepEqual(rows.map(({ id }) => id).sort(), allOf(ROWS).sort())
    assert.equal(page.split('\n').filter((line) => /^\| ([A-Z]\d\d|\d) /.test(line)).length, lines.length, 'a line that cannot be read')
  })

  it('names tests that are there, by these titles', () => {
    assert.ok(named.length > rows.length)
    for (const { id, title, path } of named) {
      assert.ok(existsSync(path), `${id}: there is no ${path}`)
      const isThere = path.includes('/test/bench/') ? benchesOf(path).includes(title) : titlesOf(path).has(title)
      assert.ok(isThere, `${id}: ${path} has no test "${title}"`)
    }
  })

  it('names for each rule a test that is named after it', () => {
    const without = rows.filter(({ id }) => !named.some((one) => one.id === id && carries(one, id))).map(({ id }) => id)
    assert.deepEqual(without, [])
  })

  it('names for each thing that the coordinator does tests, or rows above that do', () => {
    const tasks = lines.filter(({ id }) => id.length === 1)
    assert.deepEqual(
      [...new Set(tasks.map(({ id }) => Number(id)))],
      Array.from({ length: TASKS_OF_THE_COORDINATOR }, (_, index) => index + 1)
    )
    for (const { id, cell } of tasks.filter(({ cell }) => !cell.startsWith('[')))
      for (const row of cell.split(', '))
        assert.ok(
          rows.some((one) => one.id === row),
          `${id}: ${row}`
        )
  })
})

/** A benchmark's file says it in its first comment. */
function carries({ title, path }: Named, id: string): boolean {
  return title.includes(id) || (path.includes('/test/bench/') && readFileSync(path, 'utf8').split('*/')[0]?.includes(`(${id})`) === true)
}

function titlesOf(path: string): Set<string> {
  const code = readFileSync(path, 'utf8')
  return new Set([...code.matchAll(/\b(?:it|describe|test)\(\s*(['"])((?:\\.|(?!\1).)*)\1/g)].map(([, , title = '']) => title.replaceAll("\\'", "'")))
}

/** `npm run bench -- NAME`. */
function benchesOf(path: string): string[] {
  const runner = readFileSync(join(dirname(path), 'runner.ts'), 'utf8')
  return [...runner.matchAll(/'([a-z-]+)'/g)]
    .map(([, name = '']) => name)
    .filter((name) => name === basename(path, '.ts'))
    .map((name) => `bench ${name}`)
}

function allOf(ranges: string): string[] {
  return ranges.split(/\s+/).flatMap((range) => {
    const [first = '', last = first] = range.split('-')
    const [from, to] = [Number(first.slice(1)), Number(last.slice(1))]
    return Array.from({ length: to - from + 1 }, (_, index) => `${first[0]}${String(from + index).padStart(2, '0')}`)
  })
}
