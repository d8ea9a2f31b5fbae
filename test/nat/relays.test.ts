/** R08 to R11: a project behind a router, reached through relays by volunteers wherever they stand. Real processes on real networks; skipped, saying so, where there can be none. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatInvite } from '#client-cli/client/invite'
import { Home } from '#client-cli/live/home'
import { askNode, relayStatus } from '#client-cli/live/node-control'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { initRelay } from '#relay/main'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, type Said, TalkoShell, talko } from '../support/talko.ts'
import { until } from '../support/until.ts'
import { Internet, type Place, STANDINGS, whyNot } from './internet.ts'

const MIB = 1024 * 1024
const RELAYS = ['relay1', 'relay2', 'relay3']
/** The least there may be. */
const CIRCUIT_BYTES_MAX = 16 * MIB
const DATA_BYTES = 20 * MIB
/** More than what nodes do not speak of. */
const PAIR_BYTES = MIB + 100_000
const program = (name: string): string => fileURLToPath(new URL(`../support/${name}-program.ts`, import.meta.url))
const missing = whyNot()

describe('a project behind a router and its volunteers', { timeout: 240_000, skip: missing ?? false }, () => {
  let dir: string
  let internet: Internet
  let project: string
  let owner: TalkoShell
  const bootstrap: string[] = []
  const relays = new Map<string, TestProcess>()
  const places = new Map<string, Place>()
  const processes: TestProcess[] = []

  const asOwner = (...argv: string[]): Promise<Said> => owner.run(...argv)

  async function start(kind: 'relay' | 'node' | 'server', folder: string, place: Place): Promise<TestProcess> {
    const started = startProgram(program(kind), [join(dir, folder)], {}, place.within)
    processes.push(started)
    return begun(started, folder)
  }

  const online = async (): Promise<string[]> =>
    JSON.parse((await asOwner('nodes', '-o', 'json')).out)
      .filter(({ state }: { state: string }) => state === 'online')
      .map(({ name }: { name: string }) => name)

  async function enrol(name: string, place: Place, addresses: readonly string[] = []): Promise<void> {
    await initNode(join(dir, name), {
      project,
      addresses,
      bootstrap,
      listen: ['/ip4/0.0.0.0/tcp/0'],
      uploadPerSecond: 64 * MIB,
      name,
      slots: 8,
      engines: ['process']
    })
    await start('node', name, place)
  }

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-nat-'))
    internet = new Internet()
    for (const name of RELAYS) {
      const place = internet.place(name, 'public')
      places.set(name, place)
      // One of them speaks as the web does.
      const listen = [`/ip4/${place.address}/tcp/443${name === 'relay3' ? '/ws' : ''}`]
      await initRelay(join(dir, name), { listen, bootstrap: [...bootstrap], limits: { circuitBytesMax: CIRCUIT_BYTES_MAX } })
      const relay = await start('relay', name, place)
      relays.set(name, relay)
      bootstrap.push(...JSON.parse(relay.lines[0] ?? '[]'))
    }
    const home = internet.place('project', 'cone')
    owner = new TalkoShell({ TALKO_HOME: join(dir, 'home') }, { within: internet.place('owner', 'cone').within })
    processes.push(owner.process)
    const { peerId } = await Home.at(join(dir, 'home')).signer()
    ;({ id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: ['/ip4/0.0.0.0/tcp/4600'], relays: bootstrap }))
    await start('server', 'project', home)
    assertDone(await asOwner('use', formatInvite({ project, addresses: [], bootstrap })))
    for (const standing of STANDINGS) places.set(standing, internet.place(standing, standing))
    await Promise.all(STANDINGS.map((standing) => enrol(standing, places.get(standing) as Place)))
    await until('all nodes to be welcomed', async () => (await online()).length === STANDINGS.length)
  })
  after(async () => {
    for (const started of processes) await started.kill('SIGKILL')
    await internet?.close()
    await rm(dir, { recursive: true, force: true })
  })

  /** Tasks on the process engine of one node, waited for. */
  async function runAll(node: string, script: string, ...more: string[]): Promise<readonly { readonly id: string; readonly output: string }[]> {
    const words = ['run', '-W', '-o', 'json', '--engine', 'process', '--cpus', '0.25', '--quorum', '1', '--node', node]
    const said = await asOwner(...words, ...more, '--', 'sh', '-c', script)
    assertDone(said)
    return JSON.parse(said.out).tasks
  }

  it('data goes to nodes and comes back, although relays cut every connection that carried 16 MiB', async () => {
    await mkdir(join(dir, 'data'))
    await writeFile(join(dir, 'data', 'bytes'), randomBytes(DATA_BYTES))
    const said = await asOwner('upload', join(dir, 'data'))
    assertDone(said)
    const tasks = await Promise.all(
      (['symmetric', 'web-only', 'far'] as const).map((standing) =>
        runAll(standing, 'cp $TALKO_IN/data/bytes copy; echo here', '--input', `data=${said.out.trim()}`)
      )
    )
    const got = join(dir, 'got')
    assertDone(await asOwner('get', tasks[0]?.[0]?.id ?? '', '--to', got))
    const counts = await Promise.all(RELAYS.map((name) => relayStatus(join(dir, name))))
    const ended = counts.map(({ ended }) => (ended as { circuit_bytes?: number }).circuit_bytes ?? 0).reduce((sum, count) => sum + count, 0)
    assert.ok(ended > 0, `${ended} connections were cut`)
  })

  it('every two of them exchange blocks, directly where one has an open address', async () => {
    const others = (one: string): string[] => STANDINGS.filter((standing) => standing !== one)
    // For each of the others a tree of its own, which nobody else has.
    const made = new Map<string, readonly string[]>()
    await Promise.all(
      STANDINGS.map(async (from) => {
        const tasks = await runAll(from, `head -c ${PAIR_BYTES} /dev/urandom > bytes`, '--count', String(STANDINGS.length - 1))
        made.set(
          from,
          tasks.map(({ output }) => output)
        )
      })
    )
    await until('the project to know who has what', async () => {
      const views: { name: string; dataTrees: number }[] = JSON.parse((await asOwner('nodes', '-o', 'json')).out)
      return views.every(({ name, dataTrees }) => STANDINGS.every((standing) => standing !== name) || dataTrees >= others(name).length)
    })
    const peers = new Map<string, string>()
    for (const standing of STANDINGS) peers.set(String((await askNode(join(dir, standing), 'GET', '/status')).peerId), standing)
    for (const to of STANDINGS) await runAll(to, 'true', ...others(to).flatMap((from) => ['--input', `${from}=${made.get(from)?.[others(from).indexOf(to)]}`]))
    const ways: string[] = []
    for (const to of STANDINGS) {
      const { exchange } = await askNode(join(dir, to), 'GET', '/status')
      const { peers: seen } = exchange as { peers: readonly { peer: string; direct: boolean; bytes: number }[] }
      for (const from of others(to)) {
        const way = seen.find(({ peer }) => peers.get(peer) === from)
        assert.ok(way !== undefined && way.bytes > PAIR_BYTES, `${to} got nothing from ${from}: ${JSON.stringify(exchange)}`)
        if (way.direct) ways.push(`${from} to ${to}`)
      }
    }
    console.log(`blocks went directly from ${ways.join(', ')}; relayed between all others`)
    for (const to of STANDINGS) if (to !== 'public' && to !== 'web-only') assert.ok(ways.includes(`public to ${to}`), `public to ${to} went through a relay`)
  })

  it('N10: each of them is told what its network is, and that nothing has to be done', async () => {
    const told = await Promise.all(
      STANDINGS.map(async (standing) => {
        const said = await talko(['node', 'doctor', join(dir, standing), '-o', 'json'], { within: places.get(standing)?.within ?? [] })
        assertDone(said)
        const { nat, udp, inbound, reached } = JSON.parse(said.out)
        assert.equal(reached, true)
        return [standing, { nat, udp, inbound }]
      })
    )
    assert.deepEqual(Object.fromEntries(told), {
      public: { nat: 'public', udp: true, inbound: true },
      firewall: { nat: 'firewall', udp: true, inbound: false },
      cone: { nat: 'cone', udp: true, inbound: false },
      symmetric: { nat: 'symmetric', udp: true, inbound: false },
      carrier: { nat: 'cone', udp: true, inbound: false },
      'tcp-only': { nat: 'unknown', udp: false, inbound: false },
      'web-only': { nat: 'unknown', udp: false, inbound: false },
      far: { nat: 'cone', udp: true, inbound: false }
    })
  })
})
