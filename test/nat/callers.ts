/** What relays tell a project of who calls through them: a banned network is kept out there, too. Real processes on real networks; skipped, saying so, where there can be none. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
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
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, type Said, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'
import { Internet, type Place, whyNot } from './internet.ts'

/** The only place that is not in the network of all others. */
const ELSEWHERE = '6.6.6.5'
const program = (name: string): string => fileURLToPath(new URL(`../support/${name}-program.ts`, import.meta.url))
const missing = whyNot()

export function banThroughRelay(): void {
  describe('a project that is reached through a relay', { timeout: 180_000, concurrency: 1, skip: missing ?? false }, () => {
    let dir: string
    let internet: Internet
    let shell: TalkoShell
    let ann: Place
    let enrol: (name: string, place: Place) => Promise<void>
    const processes: TestProcess[] = []
    const asOwner = (...argv: string[]): Promise<Said> => shell.run(...argv)
    const ip = (place: Place, ...argv: string[]): void => {
      execFileSync(place.within[0] ?? '', [...place.within.slice(1), 'ip', ...argv])
    }

    async function start(kind: 'relay' | 'node' | 'server', folder: string, place: Place): Promise<TestProcess> {
      const started = startProgram(program(kind), [join(dir, folder)], {}, place.within)
      processes.push(started)
      return begun(started, folder)
    }
    const stateOf = async (name: string): Promise<string | undefined> =>
      JSON.parse((await asOwner('nodes', '-o', 'json')).out).find((node: { name: string }) => node.name === name)?.state

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'talko-nat-callers-'))
      internet = new Internet()
      const relay = internet.place('relay', 'public')
      ann = internet.place('ann', 'public')
      shell = new TalkoShell({ TALKO_HOME: join(dir, 'home') }, { within: internet.place('owner', 'public').within })
      processes.push(shell.process)
      ip(relay, 'route', 'add', '6.6.6.0/24', 'dev', 'eth0')
      ip(ann, 'addr', 'add', `${ELSEWHERE}/32`, 'dev', 'eth0')
      ip(ann, 'route', 'change', '5.5.5.0/24', 'dev', 'eth0', 'src', ELSEWHERE)
      await initRelay(join(dir, 'relay'), { listen: [`/ip4/${relay.address}/tcp/443`] })
      const bootstrap: string[] = JSON.parse((await start('relay', 'relay', relay)).lines[0] ?? '[]')
      const { peerId } = await Home.at(join(dir, 'home')).signer()
      const { id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: ['/ip4/0.0.0.0/tcp/4600'], relays: bootstrap })
      await start('server', 'project', internet.place('project', 'cone'))
      assertDone(await asOwner('use', formatInvite({ project, addresses: [], bootstrap })))
      enrol = async (name, place) => {
        await initNode(join(dir, name), { project, addresses: [], bootstrap, name, slots: 1, engines: ['process'] })
        await start('node', name, place)
      }
      await enrol('ann', ann)
      await enrol('bob', internet.place('bob', 'public'))
      for (const name of ['ann', 'bob']) await until(`${name} to be welcomed`, async () => (await stateOf(name)) === 'online')
    })
    after(async () => {
      for (const started of processes) await started.kill('SIGKILL')
      await internet?.close()
      await rm(dir, { recursive: true, force: true })
    })

    it('bans a network whose nodes call through the relay, and them alone', async () => {
      assertDone(await asOwner('ban', 'add', '6.6.6.0/24', '--reason', 'a test'))
      await until('ann to be banned', async () => (await stateOf('ann')) === 'banned')
      assert.equal(await stateOf('bob'), 'online')
      assertDone(await asOwner('ban', 'remove', '6.6.6.0/24'))
      await until('ann to be let in again', async () => (await stateOf('ann')) === 'online')
    })

    it('bans a stranger of that network, who calls for the first time', async () => {
      assertDone(await asOwner('ban', 'add', '6.6.6.0/24', '--reason', 'a test'))
      await enrol('cid', ann)
      await until('cid to be told', async () =>
        /banned all nodes of this network: a test/.test(String((await askNode(join(dir, 'cid'), 'GET', '/status')).trouble))
      )
      assert.equal(await stateOf('cid'), undefined)
    })
  })
}
