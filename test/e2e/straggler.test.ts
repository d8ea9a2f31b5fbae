import assert from 'node:assert/strict'
import { after, before, it } from 'node:test'
import type { MoveView } from '#protocol/owner/messages'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

const TASKS = 9
const FAST_S = 2.5
/** Ten times as slow. */
const SLOW_S = 25
/** P, and the least run that is long. */
const FACTOR = 2
const STRAGGLER_MS_MIN = 2_000

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('F05, F06: a node ten times as slow is found out at 2 x (mean + 2 sigma), another runs its task too, its result is the first and wins, and the slow run is ended', {
  timeout: 120_000
}, async (test) => {
  await network.nodeProcess('ann', { slots: 2 })
  await network.nodeProcess('bob', { slots: 2 })
  await network.nodeProcess('slow')
  const client = await network.client()
  await until('the nodes', async () => (await client.nodes()).length === 3)
  const command = ['sh', '-c', `case $HOME in */slow/*) sleep ${SLOW_S};; *) sleep ${FAST_S};; esac; echo done`]
  const specs = Array.from({ length: TASKS }, (_, index) => ({ command, engine: 'process' as const, environment: { SEED: String(index) } }))
  const begun = performance.now()
  const batch = await client.submit(await client.prepare(specs), { policy: { minQuorum: 1, targetResults: 1, copies: 'never' } })
  const why = await until('the straggler to be found out', async () => {
    const views = await Promise.all(Array.from({ length: TASKS }, (_, index) => client.why(`${batch.id}.${index}`)))
    return views.find(({ runs }) => runs.some(({ straggles }) => straggles))
  })
  assert.equal(why.runs.find(({ straggles }) => straggles)?.nodeName, 'slow')
  assert.equal((await client.wait(batch.id)).ready, TASKS)
  const ms = performance.now() - begun
  const { replicas = [] } = await client.task(why.task)
  assert.deepEqual(
    replicas.map(({ state, verdict }) => [state, verdict]),
    [
      ['cancelled', undefined],
      ['reported', 'valid']
    ]
  )
  const moves: MoveView[] = []
  for await (const part of client.events({ of: batch.id, last: 1_000 })) moves.push(...part.moves)
  const { meanMs, sigmaMs, foundMs, endedMs } = storyOf(moves, why.task)
  const limitMs = Math.max(STRAGGLER_MS_MIN, FACTOR * (meanMs + 2 * sigmaMs))
  test.diagnostic(`others take ${Math.round(meanMs)} ms with a sigma of ${Math.round(sigmaMs)} ms, so more than ${Math.round(limitMs)} ms are long`)
  test.diagnostic(
    `found out after ${foundMs} ms, beaten by its copy after ${endedMs} ms of the ${SLOW_S * 1000} ms that it takes; all done after ${Math.round(ms)} ms`
  )
  assert.ok(foundMs > 0.95 * limitMs, 'not before it is long, as the clock of the events has it')
  assert.ok(endedMs < SLOW_S * 1000, 'nobody waited for the slow run')
  await until('the slow run to end', async () => (await client.nodes()).every(({ busy }) => busy === 0))
})

/** By what happened: what the runs took that had ended when the task was run a second time, and from the begin of its first run when that was and when the second ended. */
function storyOf(moves: readonly MoveView[], task: string) {
  const atMs = (id: string, ...states: string[]): number =>
    moves.find((move) => move.kind === 'replica' && move.id === id && states.includes(move.state))?.atMs ?? Number.NaN
  const copiedMs = atMs(`${task}.2`, 'leased', 'running')
  const begunMs = atMs(`${task}.1`, 'running')
  const took = moves
    .filter(({ kind, state, atMs }) => kind === 'replica' && state === 'reported' && atMs <= copiedMs)
    .map((move) => move.atMs - atMs(move.id, 'running'))
  const meanMs = took.reduce((sum, each) => sum + each, 0) / took.length
  const sigmaMs = Math.sqrt(took.reduce((sum, each) => sum + (each - meanMs) ** 2, 0) / took.length)
  return { meanMs, sigmaMs, foundMs: copiedMs - begunMs, endedMs: atMs(`${task}.2`, 'reported') - begunMs }
}
