import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { encodeHintFrame, HINT_LIFE_MS_MAX, signHint } from '#protocol/hints/hints'
import type { FrameStream } from '#protocol/peer/host'
import { signRecord } from '#protocol/record/record'
import { generateIdentity } from '#protocol/signing/keys'
import { pipe } from '#test/support/pipe'
import { replicaOf } from '../testing/samples.ts'
import { FRAMES_PER_MINUTE, STRANDED_MS } from './policy.ts'
import { HintsService } from './service.ts'

const project = await generateIdentity()
const other = await generateIdentity()
const NOW = 1_000_000
const A = replicaOf(0)
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }

function hintBy(signer: typeof project, sequence = 1): Uint8Array {
  const hint = { project: project.peerId, sequence, kind: 'kill' as const, epoch: 1, replicas: [A], issuedAtMs: NOW, expiresAtMs: NOW + HINT_LIFE_MS_MAX }
  return encodeHintFrame({ kind: 'hint', bytes: signHint(signer, hint) })
}

function recordOf(sequence: number): Uint8Array {
  const coordinators = [{ peer: project.peerId, addresses: ['/ip4/5.5.5.7/tcp/1'] }]
  return signRecord(project, { v: 1, project: project.peerId, sequence, epoch: 1, coordinators, issuedAtMs: NOW, expiresAtMs: NOW + 1 })
}

const GREETING = encodeHintFrame({ kind: 'project', project: project.peerId })

const settle = async (): Promise<void> => {
  for (let round = 0; round < 20; round += 1) await new Promise(setImmediate)
}

/** Nodes that reach each other by name. */
function network() {
  const serving = new Map<string, (stream: FrameStream) => Promise<void>>()
  const join = async (name: string) => {
    const did: string[] = []
    let nowMs = NOW
    const timers: (() => void)[] = []
    const ports = {
      host: {
        peerId: name,
        handle: async (_protocol: string, _options: object, handler: (stream: FrameStream) => Promise<void>) => void serving.set(name, handler),
        connect: async () => {},
        open: async (peer: string) => {
          const [ours, theirs] = pipe([name, peer])
          void serving.get(peer)?.(theirs)
          return ours
        }
      },
      hold: () => () => {},
      clock: {
        nowMs: () => nowMs,
        after: (_ms: number, call: () => void) => {
          timers.push(call)
          return () => {}
        }
      },
      random: { bytes: (count: number) => new Uint8Array(count) },
      logger: SILENT,
      onRecord: () => void did.push('record'),
      onNeighbours: () => {}
    }
    const hints = new HintsService(ports, project.peerId, { record: undefined, neighbours: undefined })
    hints.ownedBy({ wake: () => void did.push('wake'), hinted: (what, replicas) => void did.push(`${what} ${replicas.join()}`) })
    await hints.start()
    /** Time passes, and what waits for it comes. */
    const later = async (ms: number): Promise<void> => {
      nowMs += ms
      for (const call of timers.splice(0)) call()
      await settle()
    }
    return { hints, did, later }
  }
  /** Somebody that says these frames to a node; the stream as that one is left with. */
  const say = async (to: string, from: string, ...frames: readonly Uint8Array[]): Promise<FrameStream> => {
    const [ours, theirs] = pipe([from, to])
    void serving.get(to)?.(theirs)
    for (const frame of frames) await ours.write(frame)
    await settle()
    return ours
  }
  return { join, say }
}

describe('streams of hints', () => {
  it('are opened by who has lost the project, with its neighbours, and bring what those know', async () => {
    const { join, say } = network()
    const [ann, bob] = [await join('ann'), await join('bob')]
    ann.hints.online()
    ann.hints.told(recordOf(5), [{ peer: 'bob', addresses: [] }])
    bob.hints.told(undefined, [{ peer: 'ann', addresses: [] }])
    await ann.later(STRANDED_MS)
    assert.equal(ann.hints.view().peers, 0)
    await bob.later(STRANDED_MS)
    assert.deepEqual([ann.hints.view().peers, bob.hints.view().peers], [1, 1])
    assert.deepEqual(bob.did, ['record', 'wake'])
    await say('ann', project.peerId, GREETING, hintBy(project))
    assert.deepEqual(bob.did.slice(2), [`kill ${A}`])
    assert.deepEqual(ann.did, ['record'])
    for (const { hints } of [ann, bob]) hints.stop()
  })

  it('are one for two nodes that call each other at once', async () => {
    const { join } = network()
    const [ann, bob] = [await join('ann'), await join('bob')]
    ann.hints.told(undefined, [{ peer: 'bob', addresses: [] }])
    bob.hints.told(undefined, [{ peer: 'ann', addresses: [] }])
    await Promise.all([ann.later(STRANDED_MS), bob.later(STRANDED_MS)])
    assert.deepEqual([ann.hints.view().peers, bob.hints.view().peers], [1, 1])
    ann.hints.told(recordOf(5), [])
    await settle()
    assert.deepEqual(bob.did, ['record', 'wake'])
    for (const { hints } of [ann, bob]) hints.stop()
  })

  it('end with who says what the project did not sign, what is no hint, of another project, or too much', async () => {
    const { join, say } = network()
    const { hints, did } = await join('ann')
    const forged = encodeHintFrame({ kind: 'record', bytes: recordOf(7).map((byte, at) => (at === 50 ? byte ^ 1 : byte)) })
    const foreign = encodeHintFrame({ kind: 'project', project: other.peerId })
    const bad: readonly (readonly Uint8Array[])[] = [
      [GREETING, hintBy(other)],
      [GREETING, forged],
      [GREETING, Uint8Array.of(1, 2, 3)],
      [GREETING, GREETING],
      [foreign],
      [hintBy(project)]
    ]
    for (const [index, frames] of bad.entries()) assert.ok((await say('ann', `mallory ${index}`, ...frames)).gone.aborted, `${index}`)
    const flood = Array.from({ length: FRAMES_PER_MINUTE + 1 }, () => hintBy(project))
    assert.ok((await say('ann', 'flood', GREETING, ...flood)).gone.aborted)
    assert.deepEqual(did, [`kill ${A}`], 'what the project signed counts, once')
    assert.equal(hints.view().peers, 0)
    assert.ok(!(await say('ann', 'cid', GREETING, hintBy(project))).gone.aborted)
    assert.equal(hints.view().peers, 1)
    hints.stop()
  })
})
