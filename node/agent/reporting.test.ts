import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeResult, RESULT_DOMAIN } from '#protocol/result/result'
import { inclusions, leavesOf, verifyInBatch } from '#protocol/signing/batch'
import { generateIdentity } from '#protocol/signing/keys'
import { A, assign, B, C, grant, play, ready, sent } from '../testing/agents.ts'
import { ENDED, PUBLISHED } from '../testing/samples.ts'

describe('what a run left', () => {
  it('signs results that end together as one batch in one frame', async () => {
    const signer = await generateIdentity()
    const agent = ready({ slots: 3 }, signer)
    play(agent, assign(1, A, B, C))
    for (const replica of [A, B, C]) agent.apply({ kind: 'prepared', replica }, 0)
    play(agent, grant(2, [A, B, C]))
    for (const replica of [A, B, C]) {
      agent.apply({ kind: 'ended', replica, ended: ENDED }, 0)
      agent.apply({ kind: 'published', replica, published: PUBLISHED }, 0)
    }
    const frames = sent(agent.take())
    assert.equal(frames.length, 1)
    const { results, signature } = frames[0]?.reports ?? assert.fail('no report')
    assert.equal(results.length, 3)
    for (const [index, proof] of inclusions({ leaves: leavesOf(results), signature }).entries())
      assert.ok(verifyInBatch(signer.peerId, RESULT_DOMAIN, results[index] ?? new Uint8Array(), proof))
  })

  it('says a tree that was too large ended by disk', () => {
    const agent = ready()
    play(agent, assign(1, A), { kind: 'prepared', replica: A }, grant(2, [A]), { kind: 'ended', replica: A, ended: ENDED })
    const step = play(agent, { kind: 'published', replica: A, published: { ...PUBLISHED, overDisk: true } })
    assert.equal(decodeResult(sent(step)[0]?.reports?.results[0] ?? new Uint8Array())?.reason, 'disk')
  })
})
