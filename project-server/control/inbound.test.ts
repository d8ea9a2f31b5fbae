import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { decodeFrame, Frame, type Hello } from '#protocol/control/messages'
import { encodeResult, RESULT_DOMAIN, type Result } from '#protocol/result/result'
import { signBatch, verifyInBatch } from '#protocol/signing/batch'
import { generateIdentity } from '#protocol/signing/keys'
import { eventOf, helloOf, type Inbound, type VerifiedRoot } from './inbound.ts'

const node = await generateIdentity()
const other = await generateIdentity()
const project = (await generateIdentity()).peerId
const replica = `${'a'.repeat(26)}.0.1`

const HELLO: Hello = {
  versions: [1],
  link: new Uint8Array(16),
  received: 0,
  project,
  capabilities: { platform: 'linux/amd64', engines: ['docker'], cpuMillis: 1, memoryBytes: 1, diskBytes: 1, slots: 1, tags: [] },
  replicas: [replica],
  agent: 'a',
  name: 'n\u0007ame',
  demand: { slots: 3 }
}

function hello(change: Partial<Hello>): Inbound {
  return helloOf({ seq: 0, ack: 0, hello: { ...HELLO, ...change } }, node.peerId, project)
}

function event(frame: Partial<Frame>, verified: VerifiedRoot = { root: '', signature: '' }): Inbound {
  return eventOf({ seq: 0, ack: 0, ...frame }, node.peerId, project, verified)
}

function codeOf(inbound: Inbound): string | undefined {
  return 'fault' in inbound ? inbound.fault.code : undefined
}

function result(change: Partial<Result> = {}): Result {
  const empty = CID.parse(EMPTY_FILE)
  return {
    v: 1,
    project,
    replica,
    bundle: empty,
    node: node.peerId,
    reason: 'exit',
    exitCode: 0,
    output: CID.parse(EMPTY_DIRECTORY),
    stdout: empty,
    stderr: empty,
    bytes: 0,
    startedAtMs: 0,
    endedAtMs: 0,
    cpuMs: 0,
    memoryPeakBytes: 0,
    ...change
  }
}

function reports(results: readonly Result[], signer = node): Partial<Frame> {
  const bodies = results.map(encodeResult)
  const proofs = signBatch(signer, RESULT_DOMAIN, bodies)
  return {
    seq: 1,
    reports: {
      results: bodies.map((body, index) => ({ body: new Uint8Array(body), index, path: (proofs[index]?.path ?? []).map((hash) => new Uint8Array(hash)) })),
      signature: new Uint8Array(proofs[0]?.signature ?? []),
      count: bodies.length
    }
  }
}

describe('what a node says', () => {
  it('takes a good hello, with its name made fit to show', () => {
    const inbound = hello({})
    assert.ok('event' in inbound && inbound.event.kind === 'hello')
    assert.equal(inbound.event.offer.name, 'n ame')
    assert.equal(inbound.event.offer.slots, 3)
    assert.deepEqual(inbound.event.replicas, [replica])
  })

  it('refuses a hello of another version or project, saying what to do', () => {
    const cases: readonly [Partial<Hello>, string, RegExp][] = [
      [{ versions: [7] }, 'version', /newest talko/],
      [{ project: other.peerId }, 'wrong_project', /invite/]
    ]
    for (const [change, code, what] of cases) {
      const inbound = hello(change)
      assert.ok('fault' in inbound)
      assert.equal(inbound.fault.code, code)
      assert.match(inbound.fault.message, what)
    }
  })

  it('refuses a hello that is out of bounds, and a first frame that is none', () => {
    assert.equal(codeOf(hello({ link: new Uint8Array(3) })), 'malformed')
    assert.equal(codeOf(hello({ replicas: ['x'] })), 'malformed')
    assert.equal(codeOf(helloOf({ seq: 0, ack: 0, heartbeat: {} }, node.peerId, project)), 'malformed')
    assert.equal(codeOf(helloOf(undefined, node.peerId, project)), 'malformed')
  })

  it('wants numbers where they belong', () => {
    assert.equal(codeOf(event({ start: { replicas: [] } })), 'malformed')
    assert.equal(codeOf(event({ seq: 4, heartbeat: {} })), 'malformed')
    assert.equal(codeOf(event({ seq: 1, start: { replicas: [{ replica, epoch: 1 }] } })), undefined)
  })

  it('refuses what only a coordinator says, a second hello, and two messages in one', () => {
    assert.equal(codeOf(event({ grant: { granted: [], refused: [] } })), 'malformed')
    assert.equal(codeOf(event({ hello: HELLO })), 'malformed')
    assert.equal(codeOf(event({ seq: 1, bye: {}, start: { replicas: [] } })), 'malformed')
  })

  it('takes results that are in a batch the node signed, wherever in the batch they are', () => {
    const verified = { root: '', signature: '' }
    const inbound = event(reports([result(), result({ exitCode: 1 }), result({ exitCode: 2 })]), verified)
    assert.ok('event' in inbound && inbound.event.kind === 'reports')
    assert.deepEqual(
      inbound.event.results.map((one) => one.result.exitCode),
      [0, 1, 2]
    )
    assert.notEqual(verified.root, '')
  })

  it('proves the results of a whole batch itself when they come without their paths', () => {
    const long = reports([result(), result({ exitCode: 1 }), result({ exitCode: 2 })])
    const results = long.reports?.results.map((one) => ({ ...one, path: [] })) ?? []
    const bare = (change: Partial<NonNullable<Frame['reports']>> = {}): Partial<Frame> =>
      ({ ...long, reports: { ...long.reports, results, ...change } }) as Partial<Frame>
    const inbound = event(bare())
    assert.ok('event' in inbound && inbound.event.kind === 'reports')
    for (const { signed } of inbound.event.results) assert.ok(verifyInBatch(node.peerId, RESULT_DOMAIN, signed.body, signed.proof))
    const wrong = [
      { results: results.slice(1) },
      { results: results.toReversed() },
      { count: 4 },
      { signature: new Uint8Array(64) },
      { results: [...results, ...results], count: 6 }
    ]
    for (const change of wrong) assert.equal(codeOf(event(bare(change))), 'bad_signature')
  })

  it('refuses results of another node, another project, another signature or another batch', () => {
    assert.equal(codeOf(event(reports([result({ node: other.peerId })]))), 'bad_signature')
    assert.equal(codeOf(event(reports([result()], other))), 'bad_signature')
    assert.equal(codeOf(event(reports([result({ project: other.peerId })]))), 'wrong_project')
    const moved = reports([result(), result({ exitCode: 1 })])
    const swapped = { ...moved, reports: { ...moved.reports, results: moved.reports?.results.toReversed() } } as Partial<Frame>
    assert.equal(codeOf(event(swapped)), undefined, 'order in the frame does not matter, each names its place')
    const first = moved.reports?.results[0]
    if (first !== undefined) first.index = 1
    assert.equal(codeOf(event(moved)), 'bad_signature')
  })

  it('never throws and never lets one node speak for another, whatever bytes come', () => {
    const verified = { root: '', signature: '' }
    const check = (bytes: Uint8Array): void => {
      const frame = decodeFrame(bytes)
      for (const inbound of [helloOf(frame, node.peerId, project), eventOf(frame, node.peerId, project, verified)])
        if ('event' in inbound && 'node' in inbound.event) assert.equal(inbound.event.node, node.peerId)
    }
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), check))
    const good = Frame.encode({ seq: 0, ack: 0, hello: HELLO })
    fc.assert(
      fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
        const bytes = Uint8Array.from(good)
        bytes[at] = byte
        check(bytes)
      })
    )
  })
})
