import assert from 'node:assert/strict'
import { it } from 'node:test'
import { Engine } from '../engine/engine.ts'
import { Random } from '../random.ts'
import { running, StackProcess } from './process.ts'
import { timersOf, type VirtualTimers } from './timers.ts'

function world(): { engine: Engine; timers: VirtualTimers; make: (name: string) => StackProcess } {
  const engine = new Engine()
  return { engine, timers: timersOf(engine), make: (name) => new StackProcess(name, engine, new Random(name)) }
}

it('timers belong to the process that set them, through promises too, and end with it', async () => {
  const { engine, timers, make } = world()
  const heard: string[] = []
  const live = async (process: StackProcess): Promise<void> => {
    await new Promise((resolve) => timers.setTimeout(resolve, 10))
    timers.setInterval(() => heard.push(`${running()?.name} at ${engine.nowMs}`), 10)
    assert.equal(running(), process)
  }
  const [one, other] = [make('one'), make('other')]
  for (const process of [one, other]) void process.run(() => live(process))
  engine.after(25, () => one.kill())
  await engine.run(40)
  assert.deepEqual(heard, ['one at 20', 'other at 20', 'other at 30', 'other at 40'])
  assert.equal(one.timers.size, 0)
  assert.equal(other.timers.size, 1)
})

it('a stopped process hears its timers when it goes on, unless it clears them first', async () => {
  const { engine, timers, make } = world()
  const process = make('sleeper')
  const heard: number[] = []
  await process.run(async () => {
    const second = timers.setTimeout(() => heard.push(2), 20)
    timers.setTimeout(() => {
      heard.push(1)
      timers.clearTimeout(second)
    }, 10)
    timers.setImmediate(() => heard.push(0))
  })
  engine.after(5, () => process.stop())
  engine.after(100, () => process.continue())
  await engine.run(200)
  assert.deepEqual(heard, [0, 1])
})

it('a timer can be set anew', async () => {
  const { engine, timers } = world()
  let at = 0
  const timer = timers.setTimeout(() => {
    at = engine.nowMs
  }, 10)
  engine.after(5, () => timer.refresh())
  await engine.run(100)
  assert.equal(at, 15)
})
