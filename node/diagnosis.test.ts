import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { diagnose, type Facts, type RelayFacts } from './diagnosis.ts'

const relay = (udp: string | undefined = '5.5.5.7 4000', changes: Partial<RelayFacts> = {}): RelayFacts => ({
  address: '/ip4/5.5.5.1/tcp/443/p2p/R',
  connected: true,
  reserved: true,
  project: true,
  seen: { address: '5.5.5.7', open: false, nowMs: 1_000 },
  askedMs: 950,
  answeredMs: 1_050,
  udp,
  ...changes
})
const facts = (changes: Partial<Facts>): Facts => ({
  own: ['192.168.1.2'],
  direct: [{ address: '/ip4/5.5.5.2/tcp/1', trouble: undefined }],
  relays: [relay(), relay()],
  engines: [{ engine: 'docker', trouble: undefined }],
  ...changes
})
/** What is not in order, as `what state`. */
const faults = (changes: Partial<Facts>): string[] =>
  diagnose(facts(changes)).findings.flatMap(({ what, state }) => (state === 'ok' ? [] : [`${what} ${state}`]))

describe('what a node is told of its network', () => {
  it('is what two relays saw of it', () => {
    const nat = (changes: Partial<Facts>): string => diagnose(facts(changes)).nat
    assert.equal(nat({}), 'cone')
    assert.equal(nat({ relays: [relay(), relay('5.5.5.7 4001')] }), 'symmetric')
    assert.equal(nat({ relays: [relay()] }), 'unknown')
    assert.equal(nat({ relays: [] }), 'unknown')
    assert.equal(nat({ own: ['5.5.5.7'] }), 'firewall')
    const near = relay(undefined, { seen: { address: '192.168.1.2', open: false, nowMs: 1_000 } })
    assert.equal(nat({ relays: [near] }), 'unknown')
    assert.deepEqual(faults({ relays: [near] }), [])
    assert.equal(nat({ own: ['5.5.5.7'], relays: [relay(undefined, { seen: { address: '5.5.5.7', open: true, nowMs: 1 } })] }), 'public')
    const busy = [relay(undefined, { seen: { address: '5.5.5.7', open: undefined, nowMs: 1_000 } })]
    assert.equal(nat({ own: ['5.5.5.7'], relays: busy }), 'unknown')
    assert.equal(nat({ own: ['5.5.5.7'], relays: [...busy, relay()] }), 'firewall')
    assert.match(JSON.stringify(diagnose(facts({ relays: busy })).findings), /no relay had time to try/)
  })
  it('names what is wrong, and what to do about all of it', () => {
    const dead = [{ address: '/ip4/5.5.5.2/tcp/1', trouble: 'no answer' }]
    const lost = relay(undefined, { connected: false, reserved: false, project: false, seen: undefined, udp: undefined })
    assert.deepEqual(faults({ own: ['5.5.5.7'], relays: [relay(undefined, { seen: { address: '5.5.5.7', open: true, nowMs: 1_000 } })] }), [])
    assert.deepEqual(faults({}), ['inbound note'])
    assert.deepEqual(faults({ relays: [relay(undefined, { udp: undefined })] }), ['inbound note', 'udp note'])
    assert.deepEqual(faults({ direct: dead }), ['inbound note', 'project note'])
    assert.deepEqual(faults({ direct: dead, relays: [lost] }), ['network note', 'project bad', 'project bad', 'relays note'])
    assert.deepEqual(faults({ direct: [], relays: [lost] }), ['network note', 'project bad', 'relays note'])
    assert.deepEqual(faults({ direct: dead, relays: [] }), ['network note', 'project bad'])
    assert.deepEqual(faults({ relays: [relay(undefined, { reserved: false })] }), ['inbound note', 'relays note'])
    assert.deepEqual(faults({ relays: [relay(undefined, { seen: { address: '5.5.5.7', open: false, nowMs: 200_000 } })] }), ['inbound note', 'clock bad'])
    assert.deepEqual(faults({ engines: [{ engine: 'docker', trouble: 'no answer' }] }), ['inbound note', 'docker bad'])
    assert.deepEqual([diagnose(facts({ direct: dead })).reached, diagnose(facts({ direct: dead, relays: [lost] })).reached], [true, false])
    const todos = (relays: RelayFacts[]): string =>
      diagnose(facts({ relays }))
        .findings.map(({ todo }) => todo)
        .join()
    assert.match(todos([lost]), /none of the relays was there.*relays of the invite do not answer/)
    assert.match(todos([{ ...lost, connected: true }]), /do not know the project/)
    assert.match(todos([]), /an invite that names relays/)
    for (const { state, todo } of diagnose(facts({ direct: dead, relays: [lost], engines: [{ engine: 'docker', trouble: 'x' }] })).findings)
      assert.ok(state === 'ok' || todo !== '')
  })
})
