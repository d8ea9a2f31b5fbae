import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, beforeEach, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import type { RunManifest } from '#protocol/bundle/manifest'
import { CONTENT_PROTOCOL, type ContentStore } from '#protocol/content/content'
import { openContentStore } from '#protocol/content/live/store'
import { serveContent } from '#protocol/content/serve'
import { Frame } from '#protocol/control/messages'
import { decodeLiveFrame, LIVE_FRAME_BYTES_MAX, LIVE_PROTOCOL, LiveOpen } from '#protocol/live/messages'
import { createHost } from '#protocol/peer/live/host'
import { signRecord } from '#protocol/record/record'
import { generateIdentity } from '#protocol/signing/keys'
import { initNode, NodeError, type StartedNode, type StartNodeOptions, startNode } from './main.ts'
import { type Executor, ExecutorError } from './ports.ts'
import { FakeCoordinator } from './testing/fake-coordinator.ts'
import { until } from './testing/live/until.ts'
import { manifestOf, replicaOf } from './testing/samples.ts'

const A = replicaOf(0)
const B = replicaOf(1)
const root = mkdtempSync(join(tmpdir(), 'talko-node-'))
after(() => rmSync(root, { recursive: true, force: true, maxRetries: 3 }))

let coordinator: FakeCoordinator
let dir: string
let nodes: StartedNode[] = []
let children: ChildProcess[] = []
let number = 0

beforeEach(async () => {
  coordinator = await FakeCoordinator.start()
  dir = join(root, String(number++))
  await initNode(dir, { project: coordinator.signer.peerId, addresses: coordinator.addresses, name: 'a node', slots: 2, engines: ['process'] })
})

afterEach(async () => {
  for (const child of children) child.kill('SIGKILL')
  for (const node of nodes) await node.stop('now').catch(() => undefined)
  await coordinator.down()
  nodes = []
  children = []
})

async function start(options: Partial<StartNodeOptions> = {}): Promise<StartedNode> {
  const node = await startNode({ dir, ...options })
  nodes.push(node)
  await coordinator.node()
  return node
}

function shell(script: string, overrides: Parameters<typeof manifestOf>[0] = {}): RunManifest {
  return manifestOf({ command: ['sh', '-c', script], ...overrides })
}

/** The coordinator's own store, with what the node left fetched into it. */
async function storeOf(name: string): Promise<ContentStore> {
  return await openContentStore(join(dir, '..', `${number}-${name}`))
}

async function textOf(store: ContentStore, from: string, cid: Parameters<ContentStore['fetch']>[0], path?: string): Promise<string> {
  await store.fetch(cid, { host: coordinator.host, from: [from] })
  const pieces: Uint8Array[] = []
  for await (const piece of store.read(cid, path)) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

/** Lines that runs wrote, whoever looked on. */
function witness(name: string): string[] {
  const path = join(root, name)
  return existsSync(path) ? readFileSync(path, 'utf8').trim().split('\n') : []
}

describe('a node', () => {
  it('runs a lease, reports it signed, serves its output, and forgets it when released', async () => {
    const node = await start()
    coordinator.assign(A, shell('echo hello; echo oh >&2; printf 42 > answer; mkdir sub; printf x > sub/y'))
    const result = await coordinator.resultOf(A)
    assert.equal(result.node, node.peerId)
    assert.deepEqual([result.reason, result.exitCode], ['exit', 0])
    assert.ok(result.endedAtMs >= result.startedAtMs)
    const store = await storeOf('content')
    assert.equal(await textOf(store, node.peerId, result.output, 'answer'), '42')
    assert.equal(await textOf(store, node.peerId, result.output, 'sub/y'), 'x')
    assert.equal(await textOf(store, node.peerId, result.stdout), 'hello\n')
    assert.equal(await textOf(store, node.peerId, result.stderr), 'oh\n')
    await store.close()
    assert.ok(existsSync(join(dir, 'run', A)))
    coordinator.release(A)
    await until('the folder to go', () => !existsSync(join(dir, 'run', A)))
    assert.deepEqual(node.status().replicas, [])
  })

  it('X12: says how many cores there are, and what runs had of them', async () => {
    const node = await start()
    const cores = availableParallelism()
    assert.equal(coordinator.hellos[0]?.capabilities?.cores, cores)
    assert.deepEqual(node.status().processors, { cores })
    // It computes for longer than usage is looked at.
    coordinator.assign(A, shell('end=$(($(date +%s) + 2)); while [ $(date +%s) -lt $end ]; do :; done'))
    await coordinator.resultOf(A)
    const { upToCores, beyondCores } = node.status().processors
    assert.deepEqual([upToCores?.runs, beyondCores], [1, undefined])
    assert.ok((upToCores?.processorsEach ?? 0) > 0)
  })

  it('tells what it is and beats', async () => {
    const node = await start()
    const [hello] = coordinator.hellos
    assert.equal(hello?.name, 'a node')
    assert.deepEqual(hello?.capabilities?.engines, ['process'])
    assert.equal(hello?.demand?.slots, 2)
    assert.ok((hello?.capabilities?.cpuMillis ?? 0) >= 1000)
    await until('a heartbeat', () => coordinator.heartbeats > 1)
    assert.equal(node.status().trouble, '')
  })

  it('reports a failed run with its exit code, and a command that is not there as 127', async () => {
    await start()
    coordinator.assign(A, shell('exit 3'))
    coordinator.assign(B, manifestOf({ command: ['eval', 'true'] }))
    assert.equal((await coordinator.resultOf(A)).exitCode, 3)
    assert.equal((await coordinator.resultOf(B)).exitCode, 127)
  })

  it('refuses what the project did not sign, what it does not offer, and never runs it', async () => {
    await start()
    coordinator.assign(A, shell(`echo ran >> ${root}/refused`), await generateIdentity())
    assert.deepEqual(await coordinator.returnOf(A).then(({ class: whose, code }) => [whose, code]), ['input', 'manifest_signature'])
    coordinator.assign(B, shell(`echo ran >> ${root}/refused`, { resources: { memoryBytes: 2 ** 49 } }))
    assert.deepEqual(await coordinator.returnOf(B).then(({ class: whose, code }) => [whose, code]), ['node', 'resources'])
    assert.deepEqual(coordinator.asked, [])
    assert.deepEqual(witness('refused'), [])
  })

  it('drops what it is not granted', async () => {
    const node = await start()
    coordinator.grants = () => false
    coordinator.assign(A, shell(`echo ran >> ${root}/ungranted`))
    await until('the question', () => coordinator.asked.includes(A))
    await until('the replica to go', () => node.status().replicas.length === 0)
    assert.deepEqual(witness('ungranted'), [])
  })

  it('kills a running replica and reports what it left until then, which is kept until it is released', async () => {
    const node = await start()
    coordinator.assign(A, shell('echo half > part; touch started; sleep 100'))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    coordinator.cancel(A)
    const { reason, output } = await coordinator.resultOf(A)
    assert.equal(reason, 'killed')
    const store = await storeOf('project')
    assert.equal(await textOf(store, node.peerId, output, 'part'), 'half\n')
    await store.close()
    assert.ok(existsSync(join(dir, 'run', A)))
    coordinator.release(A)
    await until('the folder to go', () => !existsSync(join(dir, 'run', A)))
  })

  it('ends a run at its time limit, and says so of a tree that is too large', async () => {
    await start()
    coordinator.assign(A, shell('sleep 100', { resources: { timeMs: 200 } }))
    coordinator.assign(B, shell('head -c 2000 /dev/zero > big', { resources: { diskBytes: 1000 } }))
    assert.equal((await coordinator.resultOf(A)).reason, 'time')
    assert.equal((await coordinator.resultOf(B)).reason, 'disk')
  })

  it('shares one download of an input between replicas, and shows it to the run', async () => {
    const store = await storeOf('inputs')
    const { root: input } = await store.addTree(join(import.meta.dirname, 'agent'))
    await serveContent(coordinator.host, store)
    await start()
    const manifest = shell('wc -l < "$TALKO_IN/src/policy.ts" > lines', { dependencies: [{ name: 'src', root: input, path: '', executables: [] }] })
    coordinator.assign(A, manifest)
    coordinator.assign(B, manifest)
    const [a, b] = [await coordinator.resultOf(A), await coordinator.resultOf(B)]
    assert.equal(a.exitCode, 0)
    assert.equal(a.output.toString(), b.output.toString())
    assert.ok(a.bytes > 1)
    await store.close()
  })

  it('D08: keeps what a run left when it is released: a run that needs it moves nothing', async () => {
    const node = await start()
    coordinator.assign(A, shell('head -c 2000000 /dev/zero > data', { resources: { diskBytes: 4 * 1024 ** 2 } }))
    const { output } = await coordinator.resultOf(A)
    coordinator.release(A)
    await until('the output to be told of', () => coordinator.holdings.length === 1)
    assert.deepEqual(coordinator.holdings, [{ root: output.toString(), bytes: 2_000_000 }])
    // The coordinator serves no content: there is nobody to fetch it from.
    coordinator.assign(B, shell('wc -c < "$TALKO_IN/parent/data"', { dependencies: [{ name: 'parent', root: output, path: '', executables: [] }] }))
    assert.equal((await coordinator.resultOf(B)).exitCode, 0)
    assert.equal(node.status().stock.fetchedBytes, 0)
  })

  it('keeps inputs between runs within its bound, and removes from the disk what was used longest ago', async () => {
    const settings = JSON.parse(readFileSync(join(dir, 'node.json'), 'utf8'))
    writeFileSync(join(dir, 'node.json'), JSON.stringify({ ...settings, cacheBytes: 5_000_000 }))
    const store = await storeOf('sets')
    await serveContent(coordinator.host, store)
    const node = await start()
    const roots: string[] = []
    for (const index of [0, 1, 2]) {
      const file = join(root, `set-${number}-${index}`)
      writeFileSync(file, Buffer.alloc(2_000_000, index))
      const { root: set } = await store.addTree(file)
      roots.push(set.toString())
      const dependencies = [{ name: 'set', root: set, path: '', executables: [] }]
      coordinator.assign(replicaOf(2 * index), shell('true', { dependencies }))
      assert.equal((await coordinator.resultOf(replicaOf(2 * index))).exitCode, 0)
      coordinator.assign(replicaOf(2 * index + 1), shell('true', { dependencies }))
      assert.equal((await coordinator.resultOf(replicaOf(2 * index + 1))).exitCode, 0)
    }
    const [first = '', second = '', third = ''] = roots
    await until('the first to go', () => !existsSync(join(dir, 'content', 'trees', first)))
    assert.ok(existsSync(join(dir, 'content', 'trees', second)) && existsSync(join(dir, 'content', 'trees', third)))
    const { stock } = node.status()
    assert.deepEqual([stock.trees, stock.bytes, stock.fetchedTrees, stock.fetchedBytes], [2, 4_000_000, 3, 6_000_000])
    await until('what has gone to be told', () => coordinator.holdings.map(({ root }) => root).join() === `${second},${third}`)
    await store.close()
  })

  it('gives back a replica whose input nobody has', async () => {
    const store = await storeOf('nothing')
    await serveContent(coordinator.host, store)
    await start()
    const { root: missing } = await (await storeOf('elsewhere')).addTree(join(import.meta.dirname, 'agent'))
    coordinator.assign(A, shell('true', { dependencies: [{ name: 'src', root: missing, path: '', executables: [] }] }))
    assert.equal((await coordinator.returnOf(A)).class, 'input')
    await store.close()
  })

  it('stops a download at once when its replica is killed', async () => {
    const opened = Promise.withResolvers<void>()
    await coordinator.host.handle(CONTENT_PROTOCOL, { frameBytesMax: 4 * 1024 * 1024 }, async (stream) => {
      opened.resolve()
      // Says nothing, for ever.
      for await (const frame of stream.frames()) void frame
    })
    const { root: far } = await (await storeOf('far')).addTree(join(import.meta.dirname, 'agent'))
    const node = await start()
    coordinator.assign(A, shell('true', { dependencies: [{ name: 'src', root: far, path: '', executables: [] }] }))
    await opened.promise
    coordinator.cancel(A)
    assert.equal((await coordinator.returnOf(A)).class, 'cancelled')
    assert.deepEqual(node.status().replicas, [])
  })

  it('streams a line while the task runs, and only to the coordinator', async () => {
    const node = await start()
    coordinator.assign(A, shell('echo first; while [ ! -e go ]; do sleep 0.05; done; echo second'))
    await until('the run', () => existsSync(join(dir, 'run', A, 'stdout')))
    const stream = await coordinator.host.open(node.peerId, LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX })
    await stream.write(LiveOpen.encode({ replica: A, file: 'stdout', offset: 0, follow: true }))
    let text = ''
    for await (const bytes of stream.frames()) {
      const frame = decodeLiveFrame(bytes)
      text += Buffer.from(frame?.data ?? []).toString()
      if (text === 'first\n') writeFileSync(join(dir, 'run', A, 'out', 'go'), '')
      if (frame?.end === true) break
    }
    assert.equal(text, 'first\nsecond\n')
    const unknown = await coordinator.host.open(node.peerId, LIVE_PROTOCOL, { frameBytesMax: LIVE_FRAME_BYTES_MAX })
    await unknown.write(LiveOpen.encode({ replica: B, file: 'stdout', offset: 0, follow: true }))
    const answer = await unknown.frames().next()
    assert.equal(decodeLiveFrame(answer.value ?? new Uint8Array())?.code, 'not_found')
  })

  it('goes on through an outage of the coordinator and reports afterwards, once', async () => {
    const node = await start()
    coordinator.assign(A, shell(`echo ran >> ${root}/outage; touch started; while [ ! -e ${root}/outage-over ]; do sleep 0.05; done; printf done > answer`))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    await coordinator.down()
    await until('the node to notice', () => !node.status().connected)
    writeFileSync(join(root, 'outage-over'), '')
    await until('the run to end', () => node.status().replicas[0]?.phase === 'reported')
    await coordinator.listen()
    const result = await coordinator.resultOf(A)
    assert.equal(result.exitCode, 0)
    assert.deepEqual(coordinator.hellos.at(-1)?.replicas, [A])
    assert.deepEqual(witness('outage'), ['ran'])
  })

  it('calls again over a new connection when the coordinator answers no heartbeat', async () => {
    await start()
    await coordinator.node()
    coordinator.silent = true
    await until('the node to hang up', () => !coordinator.connected)
    coordinator.silent = false
    await until('the node to be back', () => coordinator.connected)
    assert.equal(coordinator.hellos.length, 2)
  })

  it('drops its leases when the coordinator has lost its memory', async () => {
    const node = await start()
    coordinator.assign(A, shell('touch started; sleep 100'))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    coordinator.forget()
    await coordinator.down()
    await coordinator.listen()
    await coordinator.node()
    await until('the run to go', () => node.status().replicas.length === 0)
    coordinator.assign(B, shell('true'))
    await coordinator.resultOf(B)
    assert.equal(coordinator.returned.size, 0)
  })

  it('survives garbage, oversized frames and missing numbers: it loses the stream and comes back', async () => {
    await start()
    const junk = [new Uint8Array([255, 255, 255, 255]), new Uint8Array(64).fill(7)]
    for (const [index, bytes] of junk.entries()) {
      coordinator.garbage(bytes)
      await until('a new hello', () => coordinator.hellos.length === index + 2 && coordinator.connected)
    }
    coordinator.skipNumbers()
    await until('a new hello', () => coordinator.hellos.length === 4 && coordinator.connected)
    coordinator.garbage(Frame.encode({ ack: 0, before: 1_000 }))
    await until('a new hello', () => coordinator.hellos.length === 5 && coordinator.connected)
    coordinator.assign(A, shell('true'))
    assert.equal((await coordinator.resultOf(A)).exitCode, 0)
  })

  it('stays away from a project that refuses it, and says why', async () => {
    coordinator.refusal = { code: 'version', message: 'update talko', retryMs: 0 }
    const node = await startNode({ dir })
    await assert.rejects(node.stopped, (error: unknown) => error instanceof NodeError && error.code === 'refused' && error.message.includes('update talko'))
    assert.equal(coordinator.hellos.length, 1)
  })

  it('takes no work while its engine is down, and comes back by itself', async () => {
    let up = false
    const broken = new ExecutorError('engine_down', 'nobody answers at the socket; start the engine')
    const executor: Executor = {
      engine: 'process',
      async probe() {
        if (!up) throw broken
      },
      async prepare() {},
      start: () => Promise.reject(broken),
      recover: async () => new Map(),
      async sweep() {},
      async remove() {},
      async stop() {}
    }
    const node = await start({ executors: [executor] })
    assert.equal(coordinator.demands[0], 0)
    assert.match(node.status().trouble, /nobody answers/)
    up = true
    await until('demand', () => coordinator.demands.at(-1) === 2)
    up = false
    coordinator.assign(A, shell('true'))
    assert.deepEqual(await coordinator.returnOf(A).then(({ class: whose, code }) => [whose, code]), ['node', 'engine_down'])
    await until('no demand', () => coordinator.demands.at(-1) === 0)
  })

  it('drains: finishes what runs, takes nothing more, says good-bye', async () => {
    const node = await start()
    coordinator.assign(A, shell(`touch started; while [ ! -e ${root}/drain-over ]; do sleep 0.05; done`))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    const stopped = node.stop('finish')
    await until('no demand', () => coordinator.demands.at(-1) === 0)
    coordinator.assign(B, shell('true'))
    assert.equal((await coordinator.returnOf(B)).class, 'owner')
    writeFileSync(join(root, 'drain-over'), '')
    await coordinator.resultOf(A)
    coordinator.release(A)
    await stopped
    assert.equal(coordinator.byes, 1)
    assert.ok(!existsSync(join(dir, 'node.sock')))
  })

  it('drains for its grace and no longer: what has not finished then is ended and given back', async () => {
    const node = await start()
    coordinator.assign(A, shell(`touch started; sleep 100; echo survived >> ${root}/stop-grace`))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    assert.match(String((await ask(dir, 'POST', '/stop?mode=finish&grace=soon')).error), /milliseconds/)
    await ask(dir, 'POST', '/stop?mode=finish&grace=300')
    await until('no demand', () => coordinator.demands.at(-1) === 0)
    assert.equal(node.status().replicas[0]?.phase, 'running')
    coordinator.assign(B, shell('true'))
    assert.equal((await coordinator.returnOf(B)).class, 'owner')
    assert.equal((await coordinator.returnOf(A)).class, 'owner')
    await node.stopped
    assert.equal(coordinator.byes, 1)
  })

  it('is paused still after it was stopped and started again', async () => {
    const node = await start()
    node.pause()
    await node.stop('finish')
    const again = await start()
    assert.equal(again.status().mode, 'paused')
    again.resume()
    await until('demand', () => coordinator.demands.at(-1) === 2)
  })

  it('stops now: kills what runs, gives it back, and starts again afterwards', async () => {
    const node = await start()
    coordinator.assign(A, shell(`touch started; sleep 100; echo survived >> ${root}/stop-now`))
    await until('the run', () => existsSync(join(dir, 'run', A, 'out', 'started')))
    await node.stop('now')
    assert.equal(coordinator.byes, 1)
    assert.equal(coordinator.returned.get(A)?.class, 'owner')
    await start()
    coordinator.assign(B, shell('true'))
    await coordinator.resultOf(B)
    assert.equal(coordinator.byes, 1)
  })

  it('is asked and told through its socket, and keeps a second node out of its folder', async () => {
    const node = await start()
    assert.equal((await ask(dir, 'GET', '/status')).peerId, node.peerId)
    assert.equal((await ask(dir, 'POST', '/pause')).mode, 'paused')
    await until('no demand', () => coordinator.demands.at(-1) === 0)
    assert.equal((await ask(dir, 'POST', '/resume')).mode, 'active')
    assert.match(String((await ask(dir, 'POST', '/stop?mode=later')).error), /finish or now/)
    await assert.rejects(startNode({ dir }), (error: unknown) => error instanceof NodeError && error.code === 'in_use')
    await ask(dir, 'POST', '/stop?mode=now')
    await node.stopped
  })

  it('finds the project in the DHT, knowing only a bootstrap peer', async (t) => {
    const bootstrap = await createHost({
      signer: await generateIdentity(),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      role: 'server',
      dht: { bootstrap: [], serve: true, allowPrivate: true }
    })
    t.after(() => bootstrap.stop())
    await coordinator.down()
    await coordinator.listen('/ip4/127.0.0.1/tcp/0', bootstrap.addresses())
    const project = coordinator.signer.peerId
    const now = Date.now()
    const record = {
      v: 1,
      project,
      sequence: now,
      epoch: 1,
      coordinators: [{ peer: project, addresses: coordinator.addresses }],
      issuedAtMs: now,
      expiresAtMs: now + 60_000
    } as const
    await coordinator.host.publishRecord(signRecord(coordinator.signer, record))
    dir = `${dir}-dht`
    await initNode(dir, { project, addresses: [], bootstrap: bootstrap.addresses(), name: 'a node', slots: 1, engines: ['process'] })
    const node = await start()
    await until('the node to be welcomed', () => node.status().connected)
    await node.stop('now')
  })

  it('stops when its folder vanishes', async () => {
    const node = await start()
    rmSync(dir, { recursive: true })
    await node.stopped
    assert.equal(coordinator.byes, 1)
  })

  it('says what is wrong with a folder', async () => {
    const code = (expected: string) => (error: unknown) => error instanceof NodeError && error.code === expected
    await assert.rejects(startNode({ dir: join(root, 'nowhere') }), code('not_a_node_folder'))
    const settings = { project: coordinator.signer.peerId, addresses: coordinator.addresses, name: 'x', slots: 1, engines: ['process'] } as const
    await assert.rejects(initNode(dir, settings), code('exists'))
    await assert.rejects(initNode(join(root, 'bad'), { ...settings, addresses: ['http://x'] }), code('bad_settings'))
    await assert.rejects(initNode(join(root, 'bad'), { ...settings, project: 'me' }), code('bad_settings'))
    await assert.rejects(initNode(join(root, 'bad'), { ...settings, slots: 0 }), code('bad_settings'))
    await assert.rejects(initNode(join(root, 'bad'), { ...settings, groups: ['two words'] }), code('bad_settings'))
    await assert.rejects(initNode(join(root, 'bad'), { ...settings, bootstrap: ['/ip4/127.0.0.1/tcp/1'] }), code('bad_settings'))
  })
})

describe('a node that is killed with -9', () => {
  async function startChild(): Promise<ChildProcess> {
    const program = fileURLToPath(new URL('./testing/node-program.ts', import.meta.url))
    const child = spawn(process.execPath, [program, dir], { stdio: ['ignore', 'pipe', 'inherit'], env: { ...process.env, NODE_TEST_CONTEXT: '' } })
    children.push(child)
    await once(child.stdout, 'data')
    return child
  }

  async function killHard(child: ChildProcess): Promise<void> {
    const gone = once(child, 'exit')
    child.kill('SIGKILL')
    await gone
  }

  it('finds a run that still goes on and one that ended unseen, and reports both, once', async () => {
    const child = await startChild()
    await coordinator.node()
    coordinator.assign(A, shell(`echo a >> ${root}/crash; touch started; while [ ! -e ${root}/crash-a ]; do sleep 0.05; done; printf a > answer`))
    coordinator.assign(B, shell(`echo b >> ${root}/crash; touch started; while [ ! -e ${root}/crash-b ]; do sleep 0.05; done; exit 7`))
    for (const replica of [A, B]) await until('the runs', () => existsSync(join(dir, 'run', replica, 'out', 'started')))
    await killHard(child)
    writeFileSync(join(root, 'crash-b'), '')
    await until('b to end', () => existsSync(join(dir, 'run', B, 'exit')))
    await startChild()
    assert.equal((await coordinator.resultOf(B)).exitCode, 7)
    writeFileSync(join(root, 'crash-a'), '')
    assert.equal((await coordinator.resultOf(A)).exitCode, 0)
    assert.deepEqual(witness('crash').sort(), ['a', 'b'])
  })

  it('gives back a run that is gone, and sweeps what nobody wants', async () => {
    const child = await startChild()
    await coordinator.node()
    coordinator.assign(A, shell('touch started; sleep 100'))
    coordinator.assign(B, shell('touch started; sleep 100'))
    for (const replica of [A, B]) await until('the runs', () => existsSync(join(dir, 'run', replica, 'out', 'started')))
    await killHard(child)
    const pidOf = (replica: string): number => JSON.parse(readFileSync(join(dir, 'run', replica, 'pid'), 'utf8')).pid
    process.kill(-pidOf(A), 'SIGKILL')
    const wanted = pidOf(B)
    coordinator.unknown = [B]
    await startChild()
    assert.deepEqual(await coordinator.returnOf(A).then(({ class: whose, code }) => [whose, code]), ['node', 'lost'])
    await until('the unwanted run to end', () => {
      try {
        process.kill(wanted, 0)
        return false
      } catch {
        return true
      }
    })
  })

  it('has its inputs still: a run on them moves nothing', async () => {
    const store = await storeOf('warm')
    await serveContent(coordinator.host, store)
    const file = join(root, `warm-${number}`)
    writeFileSync(file, Buffer.alloc(2_000_000, 7))
    const { root: set } = await store.addTree(file)
    const manifest = shell('wc -c < "$TALKO_IN/set"', { dependencies: [{ name: 'set', root: set, path: '', executables: [] }] })
    const child = await startChild()
    await coordinator.node()
    coordinator.assign(A, manifest)
    assert.equal((await coordinator.resultOf(A)).exitCode, 0)
    await killHard(child)
    await store.remove(set)
    const after = await startNode({ dir })
    nodes.push(after)
    await until('the node to come back', () => coordinator.hellos.length === 2 && coordinator.connected)
    assert.deepEqual(coordinator.hellos[1]?.holdings, [{ root: set.toString(), bytes: 2_000_000 }])
    coordinator.assign(B, manifest)
    assert.equal((await coordinator.resultOf(B)).exitCode, 0)
    assert.equal(after.status().stock.fetchedTrees, 0)
    await store.close()
  })

  it('keeps a lease it had not begun, and a result that was not taken', async () => {
    coordinator.grants = (replica) => replica !== B
    const child = await startChild()
    await coordinator.node()
    coordinator.assign(A, shell('printf kept > answer'))
    const { output } = await coordinator.resultOf(A)
    await killHard(child)
    const after = await startNode({ dir })
    nodes.push(after)
    await until('the node to come back', () => coordinator.hellos.length === 2 && coordinator.connected)
    assert.deepEqual(coordinator.hellos[1]?.replicas, [A])
    const store = await storeOf('kept')
    assert.equal(await textOf(store, after.peerId, output, 'answer'), 'kept')
    await store.close()
  })
})

async function ask(folder: string, method: string, path: string): Promise<Record<string, unknown>> {
  const { promise, resolve, reject } = Promise.withResolvers<Record<string, unknown>>()
  request({ socketPath: join(folder, 'node.sock'), method, path }, (response) => {
    let body = ''
    response.setEncoding('utf8')
    response.on('data', (part: string) => {
      body += part
    })
    response.on('end', () => resolve(JSON.parse(body)))
  })
    .on('error', reject)
    .end()
  return await promise
}
