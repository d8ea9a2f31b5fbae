import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
  for (const name of ['ann', 'bob']) await network.nodeProcess(name, { slots: 2 })
})
after(() => network.close())

/** The stdout of a command line of the owner. */
async function ok(...argv: string[]): Promise<string> {
  const { status, out, err } = await network.owner(...argv)
  assert.equal(status, 0, err)
  return out.trim()
}

const PRIMES =
  'while read n; do d=2; p=$((n > 1)); while [ $((d * d)) -le $n ]; do [ $((n % d)) -eq 0 ] && p=0; d=$((d + 1)); done; [ $p -eq 1 ] && echo $n; done; true'

it('S17: primes mapped and reduced by the project are the serial answer, though the client goes and the project server dies', {
  timeout: 180_000
}, async () => {
  const isPrime = (n: number): boolean => n > 1 && Array.from({ length: n }, (_, d) => d).every((d) => d < 2 || n % d !== 0)
  const numbers = Array.from({ length: 120 }, (_, n) => n)
  await writeFile(join(network.dir, 'numbers'), `${numbers.join('\n')}\n`)
  const reduce = await ok(
    ...['map', join(network.dir, 'numbers'), '--split', 'lines=10', '--engine', 'process', '--quorum', '1', '--detach'],
    ...['--reduce', 'cat "$TALKO_IN"/maps/*/stdout', '--', 'sh', '-c', `(${PRIMES}) < "$TALKO_IN/part"`]
  )
  assert.match(reduce, /\.12$/)
  await network.crashServer()
  const client = await network.client()
  await client.wait(reduce.slice(0, -3))
  const task = await client.task(reduce)
  assert.equal(task.status, 'ready', task.failure?.message)
  assert.equal(
    await client.result(task).stdout(),
    numbers
      .filter(isPrime)
      .map((n) => `${n}\n`)
      .join('')
  )
})

it('S15, S16: steps run when what they take is there, a final one always, and a rescue runs only the rest', { timeout: 180_000 }, async () => {
  const file = join(network.dir, 'steps.yaml')
  const mark = join(network.dir, 'may')
  await writeFile(
    file,
    `quorum: 1
defaults: { engine: process }
steps:
  one: { command: 'echo one > file; echo said' }
  two: { command: 'cat "$TALKO_IN"/a "$TALKO_IN"/b; [ -e ${mark} ]', take: { a: one/file, b: 'one:stdout' } }
  three: { command: 'cat "$TALKO_IN"/c', take: { c: 'two:stdout' } }
final: { command: echo over }
`
  )
  const client = await network.client()
  const batch = await ok('dag', 'submit', file)
  await client.wait(batch)
  const ends = async (of: string) => {
    const views = []
    for await (const view of client.tasks(of)) views.push(view)
    return views.map(({ status, failure }) => `${status}${failure === undefined ? '' : ` ${failure.code}`}`)
  }
  assert.deepEqual(await ends(batch), ['ready', 'failed exit', 'failed source', 'ready'])
  assert.match((await client.task(`${batch}.2`)).failure?.message ?? '', new RegExp(`^task ${batch}.1 failed`))
  await writeFile(mark, '')
  const rest = join(network.dir, 'rest.yaml')
  await writeFile(rest, await ok('dag', 'rescue', batch))
  const alone = await ok('run', '--engine', 'process', '--quorum', '1', '--', 'true')
  const refused = await network.owner('dag', 'rescue', alone.slice(0, -2))
  assert.equal(refused.status, 3)
  assert.match(refused.err, /was not made of a file of steps/)
  const again = await ok('dag', 'submit', rest)
  await client.wait(again)
  assert.deepEqual(await ends(again), ['ready', 'ready', 'ready'])
  assert.equal(await client.result(await client.task(`${again}.1`)).stdout(), 'one\nsaid\n')
})

it('S14, S15: a task of a sweep has its value, another can wait for it from the command line, and a sweep for that', { timeout: 120_000 }, async (test) => {
  const client = await network.client()
  await until('the nodes', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === 2)
  const sweep = await ok('sweep', '--engine', 'process', '--quorum', '1', '--set', 'x=10:14', '--set', 'y=a,b', '--', 'sh', '-c', 'echo {x}{y} > v')
  const task = await ok('run', '--engine', 'process', '--quorum', '1', '--dep', `in=${sweep}.7/v`, '--after', sweep, '--', 'sh', '-c', 'cat "$TALKO_IN/in"')
  // And a sweep for that.
  const last = await ok('sweep', '--engine', 'process', '--quorum', '1', '--dep', `in=${task}`, '--after', task, '--set', 'n=1:3', '--', 'sh', '-c', 'echo {n}')
  await client.wait(last)
  assert.deepEqual((await client.task(`${last}.2`)).sources?.list.length, 2)
  assert.equal(await client.result(await client.task(`${last}.2`)).stdout(), '3\n')
  const view = await client.task(task)
  assert.equal(await client.result(view).stdout(), '13b\n')
  const ended = await Promise.all(Array.from({ length: 10 }, async (_, index) => (await client.task(`${sweep}.${index}`)).decidedAtMs ?? 0))
  test.diagnostic(
    `leased ${(view.startedAtMs ?? 0) - Math.max(...ended)} ms after the last of what it waited for was decided, the fetching of that output included`
  )
})

it('X13: commands in order are one task, stop at the first that fails, and each has its log, exit status and time', { timeout: 120_000 }, async () => {
  const data = join(network.dir, 'some data')
  await writeFile(data, 'three little words')
  const asked = ['run', '--engine', 'process', '--quorum', '1', '-i', `data=${data}`]
  const good = await ok(...asked, '--step', 'wc -w < "{input}" > count', '--step', 'cat count', '--step', 'echo over >&2')
  const client = await network.client()
  await client.wait(good.slice(0, -2))
  assert.equal(await ok('logs', '--step', '2', good), '3')
  assert.equal(await ok('logs', '--stderr', '--step', 'echo', good), 'over')
  const bad = await ok(...asked, '--attempts', '1', '--step', 'echo first', '--step', 'exit 5', '--step', 'echo never')
  await client.wait(bad.slice(0, -2))
  const { steps, exitCode } = JSON.parse(await ok('info', bad, '-o', 'json'))
  assert.equal(exitCode, 5)
  assert.deepEqual(
    steps.map(({ name, state, exitCode: code }: { name: string; state: string; exitCode?: number }) => [name, state, code]),
    [
      ['echo', 'ready', 0],
      ['exit', 'failed', 5],
      ['echo-2', 'not_run', undefined]
    ]
  )
  assert.match(await ok('info', bad), /STEP +NAME +STATE +EXIT +TOOK +COMMAND\n1 +echo +ready +0 +\d+ s +echo first/)
})
