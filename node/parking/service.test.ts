import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { CID as Cid } from 'multiformats/cid'
import { cidOfBytes, RAW } from '#protocol/content/cid'
import { ContentError, EMPTY_FILE, type FetchOptions } from '#protocol/content/content'
import { decodeAnswer, encodeOffer, signParked } from '#protocol/parking/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { encodeResult, type Result } from '#protocol/result/result'
import { generateIdentity } from '#protocol/signing/keys'
import { pipe } from '#test/support/pipe'
import type { AgentEvent } from '../agent/events.ts'
import { parcelOf } from '../agent/safekeeping.ts'
import { replicaOf } from '../testing/samples.ts'
import { PARK_STREAMS_MAX } from './policy.ts'
import { ParkingService, weightOf } from './service.ts'

const project = await generateIdentity()
const ann = await generateIdentity()
const bob = await generateIdentity()
const SILENT = { debug() {}, info() {}, warn() {}, error() {} }
const ROOT = cidOfBytes(RAW, Uint8Array.of(1))

const settle = async (): Promise<void> => {
  for (let round = 0; round < 20; round += 1) await new Promise(setImmediate)
}

function resultOf(changes: Partial<Result> = {}): Result {
  const none = Cid.parse(EMPTY_FILE)
  const ids = { v: 1 as const, project: project.peerId, replica: replicaOf(0), bundle: none, node: ann.peerId }
  const left = { reason: 'exit' as const, exitCode: 0, output: ROOT, stdout: none, stderr: none, bytes: 100 }
  return { ...ids, ...left, startedAtMs: 0, endedAtMs: 1, cpuMs: 1, memoryPeakBytes: 1, ...changes }
}

/** Nodes that reach each other by their ids; what a node is told goes to `heard`. */
function network() {
  const serving = new Map<string, (stream: FrameStream) => Promise<void>>()
  const join = async (signer: typeof ann, fetch: (root: CID, options: FetchOptions) => Promise<{ bytes: number }> = async () => ({ bytes: 1 })) => {
    const heard: AgentEvent[] = []
    const done: string[] = []
    const host = {
      peerId: signer.peerId,
      handle: async (_protocol: string, _options: object, handler: (stream: FrameStream) => Promise<void>) => void serving.set(signer.peerId, handler),
      connect: async () => {},
      open: async (peer: string) => {
        const serve = serving.get(peer)
        if (serve === undefined) throw new Error('nobody there')
        const [ours, theirs] = pipe([signer.peerId, peer])
        serve(theirs).catch((error: Error) => theirs.abort(error))
        return ours
      }
    }
    const store = {
      begin: async (needed: boolean) => void done.push(`begin ${needed}`),
      open: async () => ({
        fetch,
        has: (root: CID) => root.equals(ROOT),
        remove: async (root: CID) => void done.push(`remove ${root}`)
      })
    }
    const clock = { after: () => () => {} }
    // What is not used here is not there.
    const ports = { host: host as unknown as Host, hold: () => () => {}, store, signer, clock, logger: SILENT }
    const service = new ParkingService(ports, project.peerId)
    service.ownedBy({ apply: (event) => void heard.push(event) })
    await service.start([])
    return { service, heard, done, serve: serving.get(signer.peerId) as (stream: FrameStream) => Promise<void> }
  }
  return { join }
}

/** What is answered to this offer, by who has it from `from`. */
async function answerTo(serve: (stream: FrameStream) => Promise<void>, from: string, offer: Uint8Array): Promise<string | undefined> {
  const [ours, theirs] = pipe([from, 'keeper'])
  void serve({ ...theirs, remotePeer: from })
  await ours.write(offer)
  for await (const frame of ours.frames()) return decodeAnswer(frame)?.code
  return undefined
}

describe('F22: leaving results with other nodes', () => {
  it('an offer reaches the agent of the other, and its word the one who offered', async () => {
    const { join } = network()
    const [from, to] = [await join(ann), await join(bob)]
    const body = encodeResult(resultOf())
    from.service.meet([{ peer: bob.peerId, addresses: ['/ip4/5.5.5.7/tcp/1'] }])
    assert.deepEqual(from.heard, [{ kind: 'neighbours', neighbours: [{ peer: bob.peerId, network: '5.5.5.0/24' }] }])
    from.service.park({ kind: 'park', replica: replicaOf(0), peer: bob.peerId, body })
    await settle()
    const [offered] = to.heard
    assert.ok(offered?.kind === 'offered')
    assert.deepEqual([offered.parcel.from, offered.parcel.content, offered.parcel.bytes], [ann.peerId, [ROOT.toString()], weightOf(100)])
    to.service.answer(ann.peerId, replicaOf(1), 'kept')
    to.service.answer(bob.peerId, replicaOf(0), 'kept')
    await settle()
    assert.equal(from.heard.length, 1, 'that was said of another, or to another')
    to.service.answer(ann.peerId, replicaOf(0), 'full')
    await settle()
    assert.deepEqual(from.heard.at(-1), { kind: 'answered', replica: replicaOf(0), peer: bob.peerId, code: 'full' })
  })

  it('who is not there has missed it', async () => {
    const from = await network().join(ann)
    from.service.park({ kind: 'park', replica: replicaOf(0), peer: bob.peerId, body: encodeResult(resultOf()) })
    await settle()
    assert.deepEqual(from.heard, [{ kind: 'answered', replica: replicaOf(0), peer: bob.peerId, code: 'missed' }])
  })

  it('nothing of another node, of another project or with another signature gets as far as the agent, nor what is no offer', async () => {
    const keeper = await network().join(bob)
    const body = encodeResult(resultOf())
    const own = (bytes: Uint8Array): Uint8Array<ArrayBuffer> => new Uint8Array(bytes)
    const offer = (bytes: Uint8Array, signature: Uint8Array): Uint8Array => encodeOffer({ result: own(bytes), signature: own(signature), bytes: 10 })
    const elsewhere = encodeResult(resultOf({ project: bob.peerId }))
    assert.equal(await answerTo(keeper.serve, bob.peerId, offer(body, signParked(ann, body))), 'refused')
    assert.equal(await answerTo(keeper.serve, ann.peerId, offer(body, signParked(bob, body))), 'refused')
    assert.equal(await answerTo(keeper.serve, ann.peerId, offer(elsewhere, signParked(ann, elsewhere))), 'refused')
    const [, theirs] = pipe([ann.peerId, bob.peerId])
    const garbage = {
      ...theirs,
      frames: async function* () {
        yield Uint8Array.of(1, 2, 3)
      }
    }
    await assert.rejects(keeper.serve(garbage), /no offer/)
    assert.deepEqual(keeper.heard, [])
  })

  it('serves a bounded number of streams', async () => {
    const keeper = await network().join(bob)
    for (let index = 0; index < PARK_STREAMS_MAX; index++) void keeper.serve(pipe([ann.peerId, bob.peerId])[1])
    await assert.rejects(keeper.serve(pipe([ann.peerId, bob.peerId])[1]), /others are served/)
  })

  it('fetches what a result names from who offers it alone, as much as was said, after what goes has gone', async () => {
    const asked: { readonly from: readonly string[]; readonly bytesMax: number | undefined }[] = []
    const keeper = await network().join(bob, async (_root, { from, bytesMax }) => {
      asked.push({ from, bytesMax })
      assert.deepEqual(keeper.done, ['begin false', `remove ${ROOT}`])
      return { bytes: 30 }
    })
    const result = resultOf({ stderr: cidOfBytes(RAW, Uint8Array.of(2)) })
    const parcel = parcelOf(result, { body: encodeResult(result), signature: new Uint8Array(64) }, { bytes: 40 })
    keeper.service.unkeep([ROOT.toString()])
    keeper.service.collect(parcel)
    await settle()
    assert.deepEqual(asked, [
      { from: [ann.peerId], bytesMax: 40 },
      { from: [ann.peerId], bytesMax: 10 }
    ])
    assert.deepEqual(keeper.heard, [{ kind: 'collected', replica: parcel.replica }])
  })

  it('says that it could not be fetched when it is more than was said, or does not come', async () => {
    const keeper = await network().join(bob, async () => {
      throw new ContentError('too_large', 'more than that')
    })
    keeper.service.collect(parcelOf(resultOf(), { body: new Uint8Array(1), signature: new Uint8Array(64) }, { bytes: 40 }))
    await settle()
    assert.deepEqual(keeper.heard, [{ kind: 'uncollected', replica: replicaOf(0) }])
  })

  it('after a start what is not there any more is not kept any more, and nothing is left of what nobody knows', async () => {
    const { service, heard, done } = await network().join(bob)
    assert.deepEqual(done, ['begin false'])
    const [here, gone] = [resultOf(), resultOf({ replica: replicaOf(1), output: cidOfBytes(RAW, Uint8Array.of(3)) })]
    await service.start([here, gone].map((result) => parcelOf(result, { body: encodeResult(result), signature: new Uint8Array(64) }, { bytes: 1 })))
    assert.deepEqual([done.at(-1), heard], ['begin true', [{ kind: 'uncollected', replica: replicaOf(1) }]])
  })
})
