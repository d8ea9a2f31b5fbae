import assert from 'node:assert/strict'
import { it } from 'node:test'
import type { CheckedLease } from './agent/events.ts'
import { type Executor, ExecutorError } from './ports.ts'
import { Runner, type RunnerPorts } from './runner.ts'
import { leaseOf, replicaOf } from './testing/samples.ts'

/** Found by the simulator: the container stayed until the node's next start, since nobody knew that there was something to sweep. */
it('an engine that does not answer when a container should go is told to the watch over the engines, which sweeps when it is back', async () => {
  const told: string[] = []
  const remove = async (): Promise<never> => {
    throw new ExecutorError('engine_down', 'the engine does not answer')
  }
  const ports: Partial<RunnerPorts> = {
    executors: new Map([['process', { remove } as Partial<Executor> as Executor]]),
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    onEngineDown: ({ code }) => told.push(code)
  }
  const lease: CheckedLease = leaseOf(replicaOf(0))
  new Runner(ports as RunnerPorts).clean(lease)
  await new Promise(setImmediate)
  assert.deepEqual(told, ['engine_down'])
})
