import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { HEIGHT, tileLines, WIDTH } from './tasks/picture.mjs'

let folder: string
before(() => {
  folder = mkdtempSync(join(tmpdir(), 'talko-tasks-'))
})
after(() => rmSync(folder, { recursive: true }))

/** Runs one of the demo's programs as a container would. */
function run(program: string, input: string, out: string): string {
  mkdirSync(join(folder, out), { recursive: true })
  return execFileSync(process.execPath, [join(import.meta.dirname, 'tasks', program), join(folder, input), join(folder, out)], {
    encoding: 'utf8',
    stdio: 'pipe'
  })
}

describe('the count', () => {
  it('counts the primes of its ranges, whose ends belong to them', () => {
    const known = [
      ['1 100', 25],
      ['2 2', 1],
      ['90 96', 0],
      ['1000000 1000100', 6]
    ] as const
    for (const [range, count] of known) {
      writeFileSync(join(folder, 'range'), `${range}\n`)
      run('primes.mjs', 'range', 'maps/one')
      assert.equal(readFileSync(join(folder, 'maps/one/count'), 'utf8'), `${count}\n`, range)
    }
  })

  it('notices when its two tests disagree: at the first number that deceives one of them', () => {
    writeFileSync(join(folder, 'range'), '3215031751 3215031751\n')
    assert.throws(() => run('primes.mjs', 'range', 'maps/one'), /the two tests disagree about 3215031751/)
  })

  it('adds up what it finds', () => {
    for (const [index, count] of [3, 4].entries()) {
      mkdirSync(join(folder, `parts/000${index}/out`), { recursive: true })
      writeFileSync(join(folder, `parts/000${index}/out/count`), `${count}\n`)
    }
    assert.equal(run('sum.mjs', 'parts', 'sum'), '7\n')
  })
})

describe('the picture', () => {
  it('is covered by its tiles, each pixel once', () => {
    const pixels = tileLines().reduce((sum, line) => {
      const [, , width = 0, height = 0] = line.split(' ').map(Number)
      return sum + width * height
    }, 0)
    assert.equal(pixels, WIDTH * HEIGHT)
  })

  it('is the same bytes each time it is drawn', () => {
    writeFileSync(join(folder, 'tile'), '560 380 40 24\n')
    const draw = (out: string): Buffer => {
      run('tile.mjs', 'tile', out)
      return readFileSync(join(folder, out, '560-380-40-24.rgb'))
    }
    const first = draw('once')
    assert.deepEqual(draw('again'), first)
    assert.ok(new Set(first).size > 50, 'there is nothing in the picture')
  })

  it('is joined only when no tile is missing', () => {
    for (const line of tileLines().slice(1)) {
      const [, , width = 0, height = 0] = line.split(' ').map(Number)
      mkdirSync(join(folder, 'tiles'), { recursive: true })
      writeFileSync(join(folder, 'tiles', `${line.replaceAll(' ', '-')}.rgb`), new Uint8Array(width * height * 3))
    }
    assert.throws(() => run('join.mjs', 'tiles', 'picture'), /tiles are missing: 0-0-240-120/)
    writeFileSync(join(folder, 'tiles', '0-0-240-120.rgb'), new Uint8Array(240 * 120 * 3).fill(200))
    run('join.mjs', 'tiles', 'picture')
    const png = readFileSync(join(folder, 'picture/picture.png'))
    assert.deepEqual([png.readUInt32BE(16), png.readUInt32BE(20)], [WIDTH, HEIGHT])
  })
})
