import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { CID } from 'multiformats/cid'
import { TAGS_MAX } from '#protocol/bundle/policy'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import { type Capabilities, decodeFrame, Frame, type Hello, PARKED_PER_FRAME_MAX } from '#protocol/control/messages'
import { signOwnership } from '#protocol/control/owner'
import { signParked } from '#protocol/parking/messages'
import { encodeResult, RESULT_DOMAIN, type Result } from '#protocol/result/result'
import { inclusions, leavesOf, rootOf, verifyInBatch } from '#protocol/signing/batch'
import { generateIdentity } from '#protocol/signing/keys'
import { eventOf, helloOf, type Inbound } from './inbound.ts'

const node = await generateIdentity()
const other = await generateIdentity()
const project = (await generateIdentity()).peerId
const replica = `${'a'.repeat(26)}.0.1`

const HELLO: Hello = {
  versions: [1],
  link: new Uint8Array(16),
  received: 0,
  project,
  capabilities: {
    platform: 'linux/amd64',
    engines: ['docker'],
    cpuMillis: 1,
    memoryBytes: 1,
    diskBytes: 1,
    slots: 1,
    tags: [],
    exclusive: [],
    gpus: [],
    ownerOnly: false,
    groups: []
  },
  replicas: [replica],
  agent: 'a',
  name: 'n\u0007ame',
  demand: { slots: 3 },
  holdings: [],
  spare: new Uint8Array(16)
}

function hello(change: Partial<Hello>): Inbound {
  return helloOf({ seq: 0, ack: 0, hello: { ...HELLO, ...change } }, node.peerId, project)
}

function event(frame: Partial<Frame>): Inbound {
  return eventOf({ seq: 0, ack: 0, ...frame }, node.peerId, project)
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
  const bodies = results.map((one) => new Uint8Array(encodeResult(one)))
  return { seq: 1, reports: { results: bodies, signature: new Uint8Array(signer.sign(RESULT_DOMAIN, rootOf(leavesOf(bodies)))) } }
}

const GPU = { uuid: 'GPU-1', model: 'NVIDIA A100', memoryBytes: 2 ** 34, driver: '535.104.5' }

function offering(change: Partial<Capabilities>): Inbound {
  return hello({ capabilities: { ...(HELLO.capabilities as Capabilities), ...change } })
}

describe('what a node offers', () => {
  it('has tags, some of them exclusive, and GPUs by their UUIDs', () => {
    const inbound = offering({ tags: ['lab', 'fast'], exclusive: ['lab'], gpus: [GPU] })
    const { offer } = 'event' in inbound && inbound.event.kind === 'hello' ? inbound.event : assert.fail(codeOf(inbound))
    assert.deepEqual({ tags: offer.tags, exclusive: offer.exclusive, gpus: offer.gpus }, { tags: ['lab', 'fast'], exclusive: ['lab'], gpus: [GPU] })
    assert.equal(codeOf(offering({ exclusive: ['lab'] })), 'malformed')
    assert.equal(codeOf(offering({ tags: ['two words'] })), 'malformed')
    assert.equal(codeOf(offering({ gpus: [GPU, GPU] })), 'malformed')
    assert.equal(codeOf(offering({ gpus: [{ ...GPU, uuid: '' }] })), 'malformed')
    assert.equal(codeOf(offering({ gpus: [{ ...GPU, driver: '1; rm' }] })), 'malformed')
  })

  it('S07: may be for groups of clients, each named once, and no more than there may be', () => {
    const groupsOf = (inbound: Inbound) => ('event' in inbound && inbound.event.kind === 'hello' ? inbound.event.offer.groups : assert.fail(codeOf(inbound)))
    assert.deepEqual(groupsOf(offering({ groups: ['physics', 'maths'] })), ['physics', 'maths'])
    assert.equal(groupsOf(offering({})), undefined)
    const many = Array.from({ length: TAGS_MAX + 1 }, (_, index) => `g${index}`)
    for (const groups of [['two words'], [''], ['a', 'a'], many]) assert.equal(codeOf(offering({ groups })), 'malformed')
  })

  it('belongs to the client that signed so for this node and this project, and to nobody else', () => {
    const ownerOf = (inbound: Inbound): string | null | undefined =>
      'event' in inbound && inbound.event.kind === 'hello' ? inbound.event.offer.owner : codeOf(inbound)
    const said = (node: string, project: string): Capabilities['owner'] => {
      const { client, signature } = signOwnership(other, node, project)
      return { client, signature: new Uint8Array(signature) }
    }
    assert.equal(ownerOf(offering({})), null)
    assert.equal(ownerOf(offering({ owner: said(node.peerId, project) })), other.peerId)
    assert.equal(ownerOf(offering({ owner: said(other.peerId, project) })), 'bad_signature')
    assert.equal(ownerOf(offering({ owner: said(node.peerId, node.peerId) })), 'bad_signature')
    assert.equal(ownerOf(offering({ owner: { client: project, signature: said(node.peerId, project)?.signature ?? new Uint8Array() } })), 'bad_signature')
  })

  it('vouches for nodes of the administrator, and for no others', () => {
    const owner = signOwnership(other, node.peerId, project)
    const capabilities = { ...(HELLO.capabilities as Capabilities), owner: { client: owner.client, signature: new Uint8Array(owner.signature) } }
    const vouched = (administrator: string): boolean | undefined => {
      const inbound = helloOf({ seq: 0, ack: 0, hello: { ...HELLO, capabilities } }, node.peerId, project, { administrator })
      return 'event' in inbound && inbound.event.kind === 'hello' ? inbound.event.offer.vouched : undefined
    }
    assert.deepEqual([vouched(other.peerId), vouched(node.peerId)], [true, undefined])
  })
})

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
    assert.equal(codeOf(hello({ spare: new Uint8Array(0) })), 'malformed')
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

  it('takes the results that the node signed together, and what proves each of them', () => {
    const inbound = event(reports([result(), result({ exitCode: 1 }), result({ exitCode: 2 })]))
    assert.ok('event' in inbound && inbound.event.kind === 'reports' && inbound.event.seal !== null)
    assert.deepEqual(
      inbound.event.results.map((one) => one.result.exitCode),
      [0, 1, 2]
    )
    const proofs = inclusions(inbound.event.seal)
    for (const [index, { body }] of inbound.event.results.entries()) {
      const proof = proofs[index]
      assert.ok(proof !== undefined && verifyInBatch(node.peerId, RESULT_DOMAIN, body, proof))
    }
  })

  it('takes a report of nothing', () => {
    const inbound = event({ seq: 1, reports: { results: [], signature: new Uint8Array() } })
    assert.ok('event' in inbound && inbound.event.kind === 'reports' && inbound.event.seal === null)
  })

  it('refuses results of another node, another project, another signature or another batch', () => {
    assert.equal(codeOf(event(reports([result({ node: other.peerId })]))), 'bad_signature')
    assert.equal(codeOf(event(reports([result()], other))), 'bad_signature')
    assert.equal(codeOf(event(reports([result({ project: other.peerId })]))), 'wrong_project')
    const { reports: good } = reports([result(), result({ exitCode: 1 })])
    assert.ok(good)
    const { results, signature } = good
    const wrong = [results.slice(1), results.toReversed(), [...results, ...results]]
    for (const some of wrong) assert.equal(codeOf(event({ seq: 1, reports: { results: some, signature } })), 'bad_signature')
    assert.equal(codeOf(event({ seq: 1, reports: { results, signature: new Uint8Array(64) } })), 'bad_signature')
  })

  it('takes results of others that are proven, and passes over those that are not, its own among them', () => {
    const parked = (one: Result, signer = other): { result: Uint8Array<ArrayBuffer>; signature: Uint8Array<ArrayBuffer> } => {
      const body = new Uint8Array(encodeResult(one))
      return { result: body, signature: new Uint8Array(signParked(signer, body)) }
    }
    const good = result({ node: other.peerId, exitCode: 7 })
    const bad = [
      parked(result(), node),
      parked(good, node),
      parked({ ...good, project: other.peerId }),
      { result: new Uint8Array(3), signature: new Uint8Array(64) }
    ]
    const inbound = event({ parked: { results: [...bad, parked(good)] } })
    assert.ok('event' in inbound && inbound.event.kind === 'parked')
    assert.deepEqual(
      inbound.event.results.map((one) => [one.result.node, one.result.exitCode]),
      [[other.peerId, 7]]
    )
    const many = Frame.encode({ parked: { results: Array.from({ length: PARKED_PER_FRAME_MAX + 1 }, () => parked(good)) } })
    assert.equal(decodeFrame(many), undefined)
  })

  it('never throws and never lets one node speak for another, whatever bytes come', () => {
    const check = (bytes: Uint8Array): void => {
      const frame = decodeFrame(bytes)
      for (const inbound of [helloOf(frame, node.peerId, project), eventOf(frame, node.peerId, project)])
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

  it('is of the network that is known better than its address says, or of the relay that hides it', () => {
    const from = (where: Parameters<typeof helloOf>[3]): string => {
      const inbound = helloOf({ seq: 0, ack: 0, hello: HELLO }, node.peerId, project, where)
      if (!('event' in inbound) || inbound.event.kind !== 'hello') return 'none'
      const { network, hidden, local } = inbound.event.offer
      return [network, hidden, local].join(' ')
    }
    const relayed = '/ip4/203.0.113.9/tcp/1/p2p/relay/p2p-circuit'
    assert.equal(from({ address: '/ip4/198.51.100.7/tcp/1' }), '198.51.100.0/24  ')
    assert.equal(from({ address: relayed, network: '198.51.100.0/24' }), '198.51.100.0/24  ')
    assert.equal(from({ address: relayed, network: '203.0.113.0/24', hidden: true }), '203.0.113.0/24 true ')
    assert.equal(from({ address: relayed, network: '' }), '  ')
  })

  it('O08: takes how far a run says that it is, with a word of it fit to show, and nothing beyond its end', () => {
    const of = (change: { donePpm?: number; note?: string }): Inbound => {
      const frame = decodeFrame(Frame.encode({ seq: 1, ack: 0, progress: { replicas: [{ replica, state: 'running', ...change }] } }))
      assert.ok(frame !== undefined)
      return eventOf(frame, node.peerId, project)
    }
    const said = (change: { donePpm?: number; note?: string }): unknown => {
      const inbound = of(change)
      return 'event' in inbound && inbound.event.kind === 'progress' ? inbound.event.replicas[0]?.figure : assert.fail()
    }
    assert.equal(said({ note: 'without a figure' }), undefined)
    assert.deepEqual(said({ donePpm: 0 }), { donePpm: 0, note: '' })
    assert.deepEqual(said({ donePpm: 1_000_000, note: `\u001b[31m\u202e${'x'.repeat(1_000)}` }), { donePpm: 1_000_000, note: ` [31m ${'x'.repeat(34)}` })
    for (const donePpm of [1_000_001, 2 ** 32 - 1]) assert.equal(codeOf(of({ donePpm })), 'malformed')
  })

  it('takes what a node logged before a crash as lines without control characters, with its bound', () => {
    const log = `${'x'.repeat(5000)}\nred \u001b[31m\u202e\r\nlast`
    const inbound = event({ crashed: { replicas: [{ replica, log }] } })
    const [said] = 'event' in inbound && inbound.event.kind === 'crashed' ? inbound.event.replicas : []
    assert.equal(said?.log.split('\n').slice(1).join('\n'), 'red  [31m  \nlast')
    assert.ok((said?.log.length ?? Number.NaN) <= 4096)
    assert.equal(codeOf(event({ crashed: { replicas: [{ replica: 'x', log }] } })), 'malformed')
    const many = Frame.encode({ crashed: { replicas: Array.from({ length: 17 }, () => ({ replica, log })) } })
    assert.equal(decodeFrame(many), undefined)
  })
})
