import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { signBundles } from '#protocol/bundle/sign'
import type { Assign, Lease } from '#protocol/control/messages'
import { generateIdentity } from '#protocol/signing/keys'
import { checkLeases } from './leases.ts'
import { manifestOf, replicaOf } from './testing/samples.ts'

const project = await generateIdentity()
const stranger = await generateIdentity()
const OFFER = { engines: ['process'], cpuMillis: 1000, memoryBytes: 2 ** 30, gpus: [{ uuid: 'GPU-1' }, { uuid: 'GPU-2' }] }

function assignOf(overrides: Parameters<typeof manifestOf>[0] = {}, signer = project): Assign {
  const manifest = encodeManifest(manifestOf(overrides))
  return {
    leases: [{ replica: replicaOf(0), epoch: 1, manifest: new Uint8Array(manifest), gpus: [] }],
    signature: new Uint8Array(signBundles(signer, [manifest]))
  }
}

/** The same assign with its first lease changed. */
function changed({ leases: [lease], signature }: Assign, change: Partial<Lease>): Assign {
  assert.ok(lease)
  return { leases: [{ ...lease, ...change }], signature }
}

function codeOf(assign: Assign): string | undefined {
  const [checked] = checkLeases(project.peerId, OFFER, assign)
  return checked === undefined ? undefined : checked.ok ? 'ok' : `${checked.fault.class} ${checked.fault.code}`
}

describe('the check of leases', () => {
  it('takes what the project signed, also a second time', () => {
    assert.equal(codeOf(assignOf()), 'ok')
    assert.equal(codeOf(assignOf()), 'ok')
  })

  it('takes what was signed together, in that order alone', () => {
    const leases = [0, 1, 2].map((index) => ({
      replica: replicaOf(index),
      epoch: 1,
      manifest: new Uint8Array(encodeManifest(manifestOf({ command: [`${index}`] }))),
      gpus: []
    }))
    const signature = new Uint8Array(
      signBundles(
        project,
        leases.map(({ manifest }) => manifest)
      )
    )
    assert.ok(checkLeases(project.peerId, OFFER, { leases, signature }).every((one) => one?.ok === true))
    for (const some of [leases.toReversed(), leases.slice(1), [...leases, ...leases]])
      assert.ok(checkLeases(project.peerId, OFFER, { leases: some, signature }).every((one) => one?.ok === false))
    assert.deepEqual(checkLeases(project.peerId, OFFER, { leases: [], signature }), [])
  })

  it('takes the GPUs that a task needs, each of this node and once', () => {
    const needs = { count: 2, memoryBytes: 0, model: '', driver: '' }
    const leased = (gpus: string[]) => checkLeases(project.peerId, OFFER, changed(assignOf({ gpus: needs }), { gpus }))[0]
    const good = leased(['GPU-1', 'GPU-2'])
    assert.deepEqual(good?.ok === true ? good.lease.gpus : good, ['GPU-1', 'GPU-2'])
    for (const gpus of [[], ['GPU-1'], ['GPU-1', 'GPU-1'], ['GPU-1', 'GPU-9'], ['GPU-1', 'GPU-2', 'GPU-9']]) assert.equal(leased(gpus)?.ok, false)
    assert.equal(checkLeases(project.peerId, OFFER, changed(assignOf(), { gpus: ['GPU-1'] }))[0]?.ok, false)
  })

  it('refuses what somebody else signed, and what was changed after it was signed', () => {
    assert.equal(codeOf(assignOf({}, stranger)), 'input manifest_signature')
    const { manifest } = assignOf({ command: ['false'] }).leases[0] ?? assert.fail()
    assert.equal(codeOf(changed(assignOf(), { manifest })), 'input manifest_signature')
  })

  it('refuses what is no manifest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (manifest) =>
        assert.match(codeOf(changed(assignOf(), { manifest: new Uint8Array(manifest) })) ?? '', /^input manifest_/)
      )
    )
  })

  it('refuses an engine it does not offer and more than it lends', () => {
    assert.equal(codeOf(assignOf({ engine: 'docker', image: manifestCid(encodeManifest(manifestOf())) })), 'node engine')
    assert.equal(codeOf(assignOf({ resources: { cpuMillis: 1001 } })), 'node resources')
    assert.equal(codeOf(assignOf({ resources: { memoryBytes: 2 ** 30 + 1 } })), 'node resources')
  })

  it('runs what is leased with other memory with that, as long as it is lent, and reports it as the bundle that it is', () => {
    const [checked] = checkLeases(project.peerId, OFFER, changed(assignOf(), { memoryBytes: 2 ** 29 }))
    assert.ok(checked?.ok)
    assert.equal(checked.lease.manifest.resources.memoryBytes, 2 ** 29)
    assert.deepEqual(checked.lease.bytes, assignOf().leases[0]?.manifest)
    assert.equal(codeOf(changed(assignOf(), { memoryBytes: 2 ** 30 + 1 })), 'node resources')
    assert.equal(codeOf(changed(assignOf(), { memoryBytes: 0 })), 'input manifest_malformed')
  })

  it('knows no replica that could be a path', () => {
    for (const replica of ['', '../x', `${replicaOf(0)}/..`, '/etc', 'a.0.1']) assert.equal(codeOf(changed(assignOf(), { replica })), undefined)
  })
})
