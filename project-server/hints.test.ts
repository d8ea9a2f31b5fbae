import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { decodeHintFrame, HINT_REPLICAS_MAX, verifyHint } from '#protocol/hints/hints'
import type { FrameStream } from '#protocol/peer/host'
import { generateIdentity } from '#protocol/signing/keys'
import { CoordinatorWorld } from '#test/support/coordinator'
import { batchId, offer, plainBundle } from '#test/support/coordinator-parts'
import { Hints } from './hints.ts'
import { HINT_GATHER_MS, HINTS_PER_SECOND } from './policy.ts'
import { ManualClock } from './testing/manual-clock.ts'

const project = await generateIdentity()
const replica = (index: number): string => `${'a'.repeat(26)}.${index}.1`

function world(neighbours: readonly string[]) {
  const clock = new ManualClock()
  const said = new Map<string, Uint8Array[]>()
  const open = async (peer: string): Promise<FrameStream> => {
    said.set(peer, said.get(peer) ?? [])
    return {
      remotePeer: peer,
      remoteAddress: '',
      frames: async function* () {},
      write: async (frame) => {
        said.get(peer)?.push(frame)
      },
      close: async () => {},
      abort: () => {},
      gone: new AbortController().signal
    }
  }
  const host = { isConnected: (peer: string) => peer !== 'away', open }
  const hints = new Hints({ host, clock, signer: project, neighboursOf: () => neighbours }, 3)
  /** What each peer was told, in words. */
  const told = async (peer: string): Promise<string[]> => {
    clock.forward(HINT_GATHER_MS)
    await new Promise(setImmediate)
    return (said.get(peer) ?? []).map((bytes) => {
      const frame = decodeHintFrame(bytes)
      if (frame?.kind !== 'hint') return frame?.kind === 'project' ? frame.project : 'nothing'
      const hint = verifyHint(frame.bytes, { project: project.peerId, nowMs: clock.nowMs() })
      return `${hint?.kind} ${hint?.replicas.length}`
    })
  }
  return { hints, told, said }
}

describe('what nodes that are away are told through others', () => {
  it('is gathered, signed, and brought to their neighbours that are here', async () => {
    const { hints, told } = world(['ann', 'away', 'bob'])
    for (let index = 0; index < HINT_REPLICAS_MAX + 5; index += 1) hints.hint({ kind: 'hint', what: 'kill', node: 'cid', replicas: [replica(index)] })
    hints.hint({ kind: 'hint', what: 'work', node: 'cid', replicas: [] })
    for (const peer of ['ann', 'bob']) assert.deepEqual(await told(peer), [project.peerId, `kill ${HINT_REPLICAS_MAX}`, 'work 0'])
    assert.deepEqual(await told('away'), [])
  })

  it('is no more in a second than may be, and nothing after the end', async () => {
    const { hints, told } = world(['ann'])
    for (let index = 0; index < 10 * HINTS_PER_SECOND; index += 1)
      hints.hint({ kind: 'hint', what: 'release', node: `node ${index}`, replicas: [replica(index)] })
    assert.equal((await told('ann')).filter((text) => text.startsWith('release')).length, HINTS_PER_SECOND)
    const ended = world(['ann'])
    ended.hints.hint({ kind: 'hint', what: 'work', node: 'cid', replicas: [] })
    ended.hints.stop()
    assert.deepEqual(await ended.told('ann'), [])
  })
})

describe('the coordinator', () => {
  const T = `${batchId(1)}.0`
  const hintsOf = (coordinator: CoordinatorWorld): string[] =>
    coordinator.effects.flatMap((effect) => (effect.kind === 'hint' ? [`${effect.what} ${effect.node} ${effect.replicas.join()}`] : []))

  it('hints at the end of a task to who may run it still and is not here, and to nobody else', async () => {
    const coordinator = await new CoordinatorWorld().start()
    const lost = coordinator.join('lost', offer(1))
    coordinator.join('here', offer(1))
    coordinator.submit(batchId(1), [plainBundle('1')], { minQuorum: 2, targetResults: 2 })
    assert.equal(coordinator.states(T), 'lost running, here running')
    coordinator.apply({ kind: 'gone', node: 'lost' })
    coordinator.pass(20_000, [lost])
    assert.equal(coordinator.states(T), 'lost lost, here running')
    assert.deepEqual(hintsOf(coordinator), [])
    coordinator.apply({ kind: 'kill', by: 'owner', batch: batchId(1) })
    assert.deepEqual(hintsOf(coordinator), [`kill lost ${T}.1`])
  })

  it('hints that a task is over without it, and that there is work for it alone', async () => {
    const coordinator = await new CoordinatorWorld().start()
    const lost = coordinator.join('lost', offer(1))
    coordinator.submit(batchId(1), [plainBundle('1')], { minQuorum: 1, targetResults: 1 })
    coordinator.apply({ kind: 'gone', node: 'lost' })
    coordinator.pass(20_000, [lost])
    coordinator.work(coordinator.join('here', offer(1)))
    assert.deepEqual(hintsOf(coordinator), [`release lost ${T}.1`])
    coordinator.submit(batchId(2), [plainBundle('2')], { minQuorum: 1, targetResults: 1, nodes: ['lost'] })
    coordinator.submit(batchId(3), [plainBundle('3')], { minQuorum: 1, targetResults: 1, nodes: ['here'] })
    assert.deepEqual(hintsOf(coordinator).slice(1), ['work lost '])
  })
})
