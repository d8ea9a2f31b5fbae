import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { encodeManifest, manifestCid } from '#protocol/bundle/manifest'
import { signBundle } from '#protocol/bundle/sign'
import type { Lease } from '#protocol/control/messages'
import { generateIdentity } from '#protocol/signing/keys'
import { LeaseCheck } from './leases.ts'
import { manifestOf, replicaOf } from './testing/samples.ts'

const project = await generateIdentity()
const stranger = await generateIdentity()
const check = new LeaseCheck(project.peerId, { engines: ['process'], cpuMillis: 1000, memoryBytes: 2 ** 30 })

function leaseOf(overrides: Parameters<typeof manifestOf>[0] = {}, signer = project): Lease {
  const manifest = encodeManifest(manifestOf(overrides))
  return { replica: replicaOf(0), epoch: 1, manifest: new Uint8Array(manifest), signature: new Uint8Array(signBundle(signer, manifestCid(manifest))) }
}

function codeOf(lease: Lease): string | undefined {
  const checked = check.check(lease)
  return checked === undefined ? undefined : checked.ok ? 'ok' : `${checked.fault.class} ${checked.fault.code}`
}

describe('the check of leases', () => {
  it('takes what the project signed, also a second time', () => {
    assert.equal(codeOf(leaseOf()), 'ok')
    assert.equal(codeOf(leaseOf()), 'ok')
  })

  it('refuses what somebody else signed, and what was changed after it was signed', () => {
    assert.equal(codeOf(leaseOf({}, stranger)), 'input manifest_signature')
    const { signature } = leaseOf()
    assert.equal(codeOf({ ...leaseOf({ command: ['false'] }), signature }), 'input manifest_signature')
  })

  it('refuses what is no manifest', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (manifest) =>
        assert.match(codeOf({ ...leaseOf(), manifest: new Uint8Array(manifest) }) ?? '', /^input manifest_/)
      )
    )
  })

  it('refuses an engine it does not offer and more than it lends', () => {
    assert.equal(codeOf(leaseOf({ engine: 'docker', image: manifestCid(encodeManifest(manifestOf())) })), 'node engine')
    assert.equal(codeOf(leaseOf({ resources: { cpuMillis: 1001 } })), 'node resources')
    assert.equal(codeOf(leaseOf({ resources: { memoryBytes: 2 ** 30 + 1 } })), 'node resources')
  })

  it('knows no replica that could be a path', () => {
    for (const replica of ['', '../x', `${replicaOf(0)}/..`, '/etc', 'a.0.1']) assert.equal(codeOf({ ...leaseOf(), replica }), undefined)
  })
})
