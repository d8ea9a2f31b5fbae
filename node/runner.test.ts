import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { ContentStore } from '#protocol/content/content'
import type { AgentEvent } from './agent/events.ts'
import { NOTHING_LEFT } from './kept.ts'
import { FIGURE_FIRST_TICKS, FIGURE_TICKS } from './policy.ts'
import type { Executor, Running, Workspace } from './ports.ts'
import { Runner, type RunnerPorts } from './runner.ts'
import { until } from './testing/live/until.ts'
import { ENDED, leaseOf, replicaOf } from './testing/samples.ts'

const nobody = (what: string) => () => assert.fail(`nobody should ${what}`)
const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const lease = leaseOf(replicaOf(1))

/** A runner whose executor starts runs with `start`, and what it asked the folders. */
function runner(start: Executor['start']): { readonly runner: Runner; readonly events: AgentEvent[]; readonly asked: string[] } {
  const events: AgentEvent[] = []
  const asked: string[] = []
  const workspace = {
    pathOf: (replica: string) => `/run/${replica}`,
    async names() {
      asked.push('names')
      return new Set<string>()
    },
    async progress() {
      asked.push('progress')
      return new TextEncoder().encode(`${50 + Math.ceil(asked.length / 2)} %`)
    },
    async remove() {
      asked.push('remove')
    }
  } as Partial<Workspace> as Workspace
  const executor: Executor = {
    engine: 'process',
    async probe() {},
    async prepare() {},
    start,
    recover: async () => new Map<string, Running>(),
    async sweep() {},
    async remove() {},
    async stop() {}
  }
  const content = {} as ContentStore
  const made = new Runner(
    { executors: [executor], content, workspace, host: {} as RunnerPorts['host'], clock: { after: () => () => undefined }, logger: quiet },
    { project: '', apply: (event) => events.push(event), engineDown: nobody('lose an engine'), online: nobody('need a connection'), isStocked: () => false }
  )
  return { runner: made, events, asked }
}

async function runOnce({ runner: made, events }: ReturnType<typeof runner>): Promise<void> {
  made.prepare(lease.replica, lease.manifest)
  await until('prepared', () => events.length === 1)
  made.start(lease)
  await until('ended', () => events.length === 2)
  made.publish(lease.replica, lease.manifest)
  await until('published', () => events.length === 3)
  made.clean(lease)
  made.remove(lease.replica, null)
  await made.stop()
  const kinds = events.map(({ kind }) => kind)
  assert.deepEqual(kinds, ['prepared', 'ended', 'published'])
  assert.deepEqual(events[2], { kind: 'published', replica: lease.replica, published: NOTHING_LEFT })
}

const running: Running = { ended: Promise.resolve(ENDED), kill: async () => undefined }

describe('a replica in the hands of the runner', () => {
  it('costs no look at the disk when its executor never asked for its folder', async () => {
    const world = runner(async () => running)
    await runOnce(world)
    assert.deepEqual(world.asked, [])
  })

  it('is looked for when its executor knows where its folder is', async () => {
    const world = runner(async ({ folder }) => {
      assert.equal(folder, `/run/${lease.replica}`)
      return running
    })
    await runOnce(world)
    assert.deepEqual(world.asked, ['names', 'remove'])
  })

  it('O08: is asked how far it is each ten ticks, and told of where that is news', async () => {
    const { runner: made, asked } = runner(async ({ folder }) => {
      assert.notEqual(folder, '')
      return { ended: new Promise(() => undefined), kill: async () => undefined }
    })
    const told: string[] = []
    const pass = async (ticks: number): Promise<void> => {
      for (let tick = 0; tick < ticks; tick++) {
        told.push(...made.figures().map(({ replica, donePpm, note }) => `${replica} ${donePpm}${note}`))
        await new Promise(setImmediate)
      }
    }
    await pass(FIGURE_TICKS)
    assert.deepEqual([asked, told], [[], []], 'nothing runs')
    made.start(lease)
    await new Promise(setImmediate)
    await pass(FIGURE_FIRST_TICKS)
    assert.deepEqual([asked, told], [['progress'], []])
    await pass(3 * FIGURE_TICKS)
    assert.equal(asked.length, 4)
    assert.deepEqual(told, [`${lease.replica} 510000`, `${lease.replica} 520000`])
  })
})
