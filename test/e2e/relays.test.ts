/** R11: relays, which are also where projects are found, are killed one after the other. Real processes on loopback. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatInvite } from '#client-cli/client/invite'
import { Home } from '#client-cli/live/home'
import { askNode } from '#client-cli/live/node-control'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { initRelay } from '#relay/main'
import { freePort } from '../support/ports.ts'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, startTalko, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'

const program = (name: string): string => fileURLToPath(new URL(`../support/${name}-program.ts`, import.meta.url))

describe('a project that is found and reached through three relays', { timeout: 240_000 }, () => {
  let dir: string
  let project: string
  let pinned: string
  let owner: TalkoShell
  const bootstrap: string[] = []
  const relays: TestProcess[] = []
  const processes: TestProcess[] = []

  async function start(kind: 'relay' | 'node' | 'server', name: string): Promise<TestProcess> {
    const started = startProgram(program(kind), [join(dir, name)])
    processes.push(started)
    return begun(started, name)
  }

  /** A new node, welcomed; it knows the relays, or the pinned address. */
  async function enrol(name: string, addresses: readonly string[] = []): Promise<void> {
    const places = addresses.length > 0 ? { addresses } : { addresses, bootstrap }
    await initNode(join(dir, name), { project, ...places, name, slots: 1, engines: ['process'] })
    await start('node', name)
    await until(`${name} to be welcomed`, async () => (await askNode(join(dir, name), 'GET', '/status')).connected === true)
  }

  const gate = (name: string): string => join(dir, name)
  const open = (name: string): void => writeFileSync(gate(name), '')

  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-e2e-'))
    for (const name of ['relay1', 'relay2', 'relay3']) {
      await initRelay(join(dir, name), { listen: [`/ip4/127.0.0.1/tcp/${await freePort()}`], bootstrap: [...bootstrap] })
      const relay = await start('relay', name)
      relays.push(relay)
      bootstrap.push(...JSON.parse(relay.lines[0] ?? '[]'))
    }
    pinned = `/ip4/127.0.0.1/tcp/${await freePort()}`
    const { peerId } = await Home.at(join(dir, 'home')).signer()
    ;({ id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: [pinned], relays: bootstrap }))
    await start('server', 'project')
    owner = new TalkoShell({ TALKO_HOME: join(dir, 'home') })
    processes.push(owner.process)
    assertDone(await owner.run('use', formatInvite({ project, addresses: [], bootstrap })))
    await enrol('first')
  })
  after(async () => {
    for (const started of processes) await started.kill('SIGKILL')
    await rm(dir, { recursive: true, force: true })
  })

  it('loses them one after the other: what runs and its log go on, and new nodes join while one, or the pinned address, is left', async () => {
    const wait = (name: string): string => `while [ ! -e ${gate(name)} ]; do sleep 0.05; done; echo ${name}`
    const script = `echo begun >> ${gate('runs')}; echo here; ${['one', 'two', 'three'].map(wait).join('; ')}`
    const said = await owner.run('run', '--engine', 'process', '--cpus', '0.25', '--quorum', '1', '--node', 'first', '--', 'sh', '-c', script)
    assertDone(said)
    const task = said.out.trim()
    const log = startTalko(['logs', '-f', task], { TALKO_HOME: join(dir, 'home') })
    processes.push(log)
    await until('its first line', () => log.lines.includes('here'))
    // What was said by the project of itself, signed, is kept by nodes and clients for when all relays are gone.
    await until('the records', () => existsSync(join(dir, 'first', 'project.record')) && existsSync(join(dir, 'home', 'records', project)))

    for (const [index, name] of ['one', 'two', 'three'].entries()) {
      await relays[index]?.kill('SIGKILL')
      open(name)
      await until(`${name} in the log, with ${2 - index} relays left`, () => log.lines.includes(name), 60_000)
      await enrol(`after-${name}`, index === 2 ? [pinned] : [])
    }
    await until('the log to end', () => log.child.exitCode !== null)
    assert.deepEqual(log.lines, ['here', 'one', 'two', 'three'])
    const { status, tasks } = JSON.parse((await owner.run('info', task, '-o', 'json')).out)
    assert.equal(status, 'ready', JSON.stringify(tasks))
    assertDone(await owner.run('run', '-W', '--engine', 'process', '--cpus', '0.25', '--quorum', '1', '--node', 'after-three', '--', 'true'))
  })

  it('is found in its own network by a node that knows an address which it does not have any more', async () => {
    await enrol('neighbour', [`/ip4/127.0.0.1/tcp/${await freePort()}`])
  })
})
