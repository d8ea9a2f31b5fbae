/** R02, R08: a node configures nothing, wherever it stands. Real processes on real networks; without root or network namespaces it is skipped, and says so. */
import assert from 'node:assert/strict'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Home } from '#client-cli/live/home'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, type Said, startTalko, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'
import { Internet, type Place, STANDINGS, type Standing, whyNot } from './internet.ts'

const TASKS = 100
const program = (name: string): string => fileURLToPath(new URL(`../support/${name}`, import.meta.url))
const missing = whyNot()

describe('a project and its volunteers', { timeout: 240_000, skip: missing ?? false }, () => {
  let dir: string
  let internet: Internet
  let project: string
  let listen: string
  let server: TestProcess
  let serverPlace: Place
  const places = new Map<Standing, Place>()
  const processes: TestProcess[] = []

  /** The owner sits behind a home router too. */
  let owner: Place
  let shell: TalkoShell
  const asOwner = (...argv: string[]): Promise<Said> => shell.run(...argv)

  async function start(file: string, args: readonly string[], place: Place): Promise<TestProcess> {
    const started = startProgram(file, args, {}, place.within)
    processes.push(started)
    return begun(started, place.name)
  }

  async function startServer(): Promise<void> {
    server = await start(program('server-program.ts'), [join(dir, 'project')], serverPlace)
  }

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-nat-'))
    internet = new Internet()
    serverPlace = internet.place('server', 'public')
    owner = internet.place('owner', 'cone')
    shell = new TalkoShell({ TALKO_HOME: join(dir, 'home') }, { within: owner.within })
    processes.push(shell.process)
    listen = `/ip4/${internet.server.address}/tcp/${internet.server.port}`
    const { peerId } = await Home.at(join(dir, 'home')).signer()
    ;({ id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: [listen] }))
    await startServer()
    assertDone(await asOwner('use', `talko://${project}?a=${listen}`))
    await Promise.all(
      STANDINGS.map(async (standing) => {
        const place = internet.place(standing, standing)
        places.set(standing, place)
        await initNode(join(dir, standing), { project, addresses: [listen], name: standing, slots: 8, engines: ['process'] })
        await start(program('node-program.ts'), [join(dir, standing)], place)
      })
    )
    await until('all nodes to be welcomed', async () => {
      const { out } = await asOwner('nodes', '-o', 'json')
      return JSON.parse(out).filter(({ state }: { state: string }) => state === 'online').length === STANDINGS.length
    })
    writeFileSync(join(dir, 'numbers'), Array.from({ length: TASKS }, (_, i) => `${i}\n`).join(''))
  })
  after(async () => {
    for (const started of processes) await started.kill('SIGTERM')
    await internet?.close()
    await rm(dir, { recursive: true, force: true })
  })

  // The last is far away and mostly waits: it goes beside all others.
  describe('each of them', { concurrency: 2 }, () => {
    for (const standing of STANDINGS.toReversed())
      it(`${standing}: ${TASKS} of ${TASKS} tasks, with inputs, outputs and logs`, async () => {
        const words = [
          'map',
          join(dir, 'numbers'),
          '--split',
          'lines=1',
          '--engine',
          'process',
          '--cpus',
          '0.25',
          '--quorum',
          '1',
          '--node',
          standing,
          '-W',
          '-o',
          'json'
        ]
        const said = await asOwner(...words, '--', 'sh', '-c', 'read n < $TALKO_IN/part; echo $((n * n)) > square; echo $n')
        assertDone(said)
        const results = JSON.parse(said.out)
        assert.deepEqual(
          results.tasks.map(({ status }: { status: string }) => status),
          Array.from({ length: TASKS }, () => 'ready')
        )
      })
  })

  /** A task on the process engine of one node; its id. */
  async function run(node: string, script: string): Promise<string> {
    const said = await asOwner('run', '--engine', 'process', '--cpus', '0.25', '--quorum', '1', '--node', node, '--', 'sh', '-c', script)
    assertDone(said)
    return said.out.trim()
  }
  /** Each run of a script that begins with this leaves a line in the file. */
  const begins = (name: string): string => `echo run >> ${join(dir, name)}`
  const runsOf = (name: string): number => (existsSync(join(dir, name)) ? readFileSync(join(dir, name), 'utf8').split('\n').length - 1 : 0)
  const gate = (name: string): string => `while [ ! -e ${join(dir, name)} ]; do sleep 0.1; done`
  const isReady = async (task: string): Promise<boolean> => JSON.parse((await asOwner('info', task, '-o', 'json')).out).status === 'ready'

  it('an owner behind a router follows what a firewalled node prints, and kills it', async () => {
    const task = await run('firewall', `${begins('followed')}; echo here I am; ${gate('never')}`)
    const following = startTalko(['logs', '-f', task], { TALKO_HOME: join(dir, 'home') }, owner.within)
    processes.push(following)
    await until('its line', () => following.lines.includes('here I am'))
    assertDone(await asOwner('kill', task))
    await until('the log to end', () => following.child.exitCode !== null)
    assert.equal(runsOf('followed'), 1)
  })

  it('a home gets another public address while its task runs: the run goes on, and is not repeated', async () => {
    const task = await run('cone', `${begins('moved')}; ${gate('move')}`)
    await until('the run to begin', () => runsOf('moved') === 1)
    places.get('cone')?.renumber()
    writeFileSync(join(dir, 'move'), '')
    await until('its result', () => isReady(task), 90_000)
    assert.equal(runsOf('moved'), 1)
  })

  it('R08: the project is killed and away while everybody runs: all finish, deliver when it is back, and run nothing again', async () => {
    const tasks = await Promise.all(STANDINGS.map((standing) => run(standing, `${begins(`away-${standing}`)}; ${gate('away')}; ${begins('ended')}`)))
    await until('the runs to begin', () => STANDINGS.every((standing) => runsOf(`away-${standing}`) === 1))
    await server.kill('SIGKILL')
    writeFileSync(join(dir, 'away'), '')
    await until('the runs to end', () => runsOf('ended') === STANDINGS.length)
    await startServer()
    for (const task of tasks) await until('its result', () => isReady(task), 90_000)
    for (const standing of STANDINGS) assert.equal(runsOf(`away-${standing}`), 1, standing)
  })
})
