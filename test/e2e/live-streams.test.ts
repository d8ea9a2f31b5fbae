/** The node's and the project's halves of live reading on each other, without a network between: what is read is what was written, whatever breaks. */
import assert from 'node:assert/strict'
import { appendFileSync, mkdirSync, mkdtempSync, renameSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { serveLogs } from '#node/live/logs'
import { type Cursor, Feeds } from '#project-server/owner/feed'
import { LiveNodes, NodeLost } from '#project-server/owner/live'
import { ManualClock } from '#project-server/testing/manual-clock'
import { MemoryNetwork } from '#protocol/content/memory-network'
import { LIVE_PROTOCOL } from '#protocol/live/messages'
import type { FrameStream } from '#protocol/peer/host'
import { until } from '../support/until.ts'

const REPLICA = `${'a'.repeat(26)}.0.1`
let root = ''
let number = 0
before(() => {
  root = mkdtempSync(join(tmpdir(), 'talko-live-'))
})
after(() => rmSync(root, { recursive: true }))

/** A replica's folder, its node, and the project that reads from it. */
class Halves {
  readonly folder = join(root, String(number++))
  readonly log = join(this.folder, 'stdout')
  readonly feeds: Feeds
  /** Frames until the next stream breaks. */
  left = Number.POSITIVE_INFINITY
  opened = 0
  state: 'running' | 'complete' = 'running'

  private constructor(network: MemoryNetwork) {
    mkdirSync(join(this.folder, 'out'), { recursive: true })
    network.passing = (frame, from) => {
      if (from === 'node' && this.left-- <= 0) throw new Error('cut')
      return frame
    }
    const project = network.host('project')
    const beside = (...asked: Parameters<NonNullable<FrameStream['beside']>>): Promise<FrameStream> => {
      this.opened++
      return project.open('node', ...asked)
    }
    const nodes = new LiveNodes({ nodes: { streamOf: () => ({ beside, gone: new AbortController().signal }) }, clock: new ManualClock() })
    this.feeds = new Feeds(nodes)
  }

  static async make(): Promise<Halves> {
    const network = new MemoryNetwork()
    const halves = new Halves(network)
    await serveLogs(network.host('node'), 'project', { stateOf: () => halves.state, folderOf: () => halves.folder })
    assert.ok(network.find('node')?.handlers.has(LIVE_PROTOCOL))
    return halves
  }

  /** Follows to the end; what was read, a part for each file or content that was begun. `breaks` are how many frames each connection lives. */
  async follow(parts: string[], breaks: readonly number[] = []): Promise<void> {
    const cursor: Cursor = { offset: 0, identity: '', seen: new Uint8Array() }
    const rest = [...breaks]
    let begun = ''
    for (;;) {
      this.left = rest.shift() ?? Number.POSITIVE_INFINITY
      try {
        for await (const step of this.feeds.follow({ node: 'node', replica: REPLICA, file: 'stdout', path: '' }, cursor, 'c', new AbortController().signal)) {
          if (step.kind === 'data') parts.push((parts.pop() ?? '') + Buffer.from(step.bytes).toString('latin1'))
          else if (begun !== '' && (step.place.identity !== begun || step.place.offset === 0)) parts.push('')
          if (step.kind === 'place') {
            assert.equal(step.place.missed, false)
            begun = step.place.identity
          }
        }
        return
      } catch (error) {
        if (!(error instanceof NodeLost)) throw error
      }
    }
  }
}

type Step = { readonly kind: 'print'; readonly bytes: number } | { readonly kind: 'rotate' | 'cut' | 'turn' }
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('print' as const), bytes: fc.constantFrom(1, 100, 200_000) }) },
  { weight: 2, arbitrary: fc.constantFrom({ kind: 'rotate' as const }, { kind: 'cut' as const }, { kind: 'turn' as const }) }
)

describe('what is read of a file that is written', () => {
  it('is the file, over connections that break after any frame, rotation and cuts', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), fc.array(fc.nat(6), { maxLength: 8 }), async (steps, breaks) => {
      const halves = await Halves.make()
      const expected = ['']
      let line = 0
      const print = (bytes: number): void => {
        let text = ''
        while (text.length < bytes) text += `line ${line++}\n`
        appendFileSync(halves.log, text)
        expected.push((expected.pop() ?? '') + text)
      }
      print(10)
      const parts = ['']
      const reading = halves.follow(parts, breaks)
      for (const one of steps) {
        if (one.kind === 'print') print(one.bytes)
        else if (one.kind === 'turn') await new Promise((resolve) => setImmediate(resolve))
        else {
          // What is cut away before it was read is gone, and of two rotations that nobody saw the first is.
          await until('the reader', () => parts.at(-1) === expected.at(-1) && parts.length === expected.length)
          if (one.kind === 'rotate') renameSync(halves.log, `${halves.log}.1`)
          else truncateSync(halves.log, 0)
          expected.push('')
          print(20)
        }
      }
      await until('the reader', () => parts.at(-1) === expected.at(-1))
      halves.state = 'complete'
      await reading
      assert.ok(parts.length === expected.length && parts.every((part, index) => part === expected[index]), `${parts.length} parts of ${expected.length}`)
    })
    // They mostly wait for the next look at the file: several go at once.
    await Promise.all(Array.from({ length: 4 }, () => fc.assert(property, { numRuns: 10 })))
  })

  it('costs one stream of the node, however many read it', async () => {
    const halves = await Halves.make()
    const readers = Array.from({ length: 10 }, () => [''])
    const all = Promise.all(readers.map((parts) => halves.follow(parts)))
    for (let index = 0; index < 50; index++) {
      appendFileSync(halves.log, `line ${index}\n`)
      if (index % 10 === 0) await until('a reader', () => readers[0]?.[0]?.endsWith(`line ${index}\n`))
    }
    halves.state = 'complete'
    await all
    assert.equal(halves.opened, 1)
    for (const parts of readers) assert.deepEqual(parts, [Array.from({ length: 50 }, (_, index) => `line ${index}\n`).join('')])
  })
})
