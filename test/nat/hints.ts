/** A volunteer that cannot reach its project hears of it from another one: that its task was killed, and where the project is now. Real processes on real networks; skipped, saying so, where there can be none. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { Home } from '#client-cli/live/home'
import { askNode } from '#client-cli/live/node-control'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, type Said, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'
import { Internet, type Place, whyNot } from './internet.ts'

const program = (name: string): string => fileURLToPath(new URL(`../support/${name}-program.ts`, import.meta.url))
const missing = whyNot()

export function hearThroughOthers(): void {
  describe('two volunteers, one of which loses its project', { timeout: 180_000, concurrency: 1, skip: missing ?? false }, () => {
    let dir: string
    let internet: Internet
    let server: TestProcess
    let old: Place
    let moved: Place
    let bob: Place
    let shell: TalkoShell
    const processes: TestProcess[] = []
    const asOwner = (...argv: string[]): Promise<Said> => shell.run(...argv)
    const listenOf = (place: Place): string => `/ip4/${place.address}/tcp/${internet.server.port}`
    const statusOf = async (name: string): Promise<{ connected: boolean; hints: { neighbours: number; peers: number; heard: number } }> =>
      JSON.parse(JSON.stringify(await askNode(join(dir, name), 'GET', '/status')))

    async function start(kind: 'node' | 'server', folder: string, place: Place): Promise<TestProcess> {
      const started = startProgram(program(kind), [join(dir, folder)], {}, place.within)
      processes.push(started)
      return begun(started, folder)
    }

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'talko-nat-hints-'))
      internet = new Internet()
      old = internet.place('server', 'public')
      moved = internet.place('moved', 'public')
      shell = new TalkoShell({ TALKO_HOME: join(dir, 'home') }, { within: moved.within })
      processes.push(shell.process)
      const ann = internet.place('ann', 'public')
      bob = internet.place('bob', 'cone')
      const { peerId } = await Home.at(join(dir, 'home')).signer()
      const { id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: [listenOf(old)] })
      server = await start('server', 'project', old)
      assertDone(await asOwner('use', `talko://${project}?a=${listenOf(old)}&a=${listenOf(moved)}`))
      const settings = { project, slots: 1, engines: ['process'] as const }
      // Only she knows of the other address.
      await initNode(join(dir, 'ann'), { ...settings, name: 'ann', addresses: [listenOf(old), listenOf(moved)], listen: ['/ip4/0.0.0.0/tcp/0'] })
      await initNode(join(dir, 'bob'), { ...settings, name: 'bob', addresses: [listenOf(old)] })
      await start('node', 'ann', ann)
      await until('ann to be there', async () => (await statusOf('ann')).connected)
      await start('node', 'bob', bob)
      await until('bob to know ann', async () => (await statusOf('bob')).hints.neighbours === 1)
    })
    after(async () => {
      for (const started of processes) await started.kill('SIGKILL')
      await internet?.close()
      await rm(dir, { recursive: true, force: true })
    })

    it('with everybody connected nobody talks of it; the run of a node that is cut off ends when its task is killed', async () => {
      for (const name of ['ann', 'bob']) assert.equal((await statusOf(name)).hints.peers, 0)
      const [begun, ended] = [join(dir, 'begun'), join(dir, 'ended')]
      const script = `trap 'echo ended > ${ended}; exit' TERM; echo begun > ${begun}; while :; do sleep 0.1; done`
      const said = await asOwner('run', '--engine', 'process', '--quorum', '1', '--node', 'bob', '--', 'sh', '-c', script)
      assertDone(said)
      await until('the run to begin', () => existsSync(begun))
      execFileSync(bob.within[0] ?? '', [...bob.within.slice(1), 'iptables', '-I', 'OUTPUT', '-d', old.address, '-j', 'DROP'])
      await until(
        'the project to miss bob',
        async () =>
          JSON.parse((await asOwner('nodes', '-o', 'json')).out).some(({ name, state }: { name: string; state: string }) => name === 'bob' && state === 'lost'),
        60_000
      )
      await until('bob to ask ann', async () => (await statusOf('bob')).hints.peers === 1, 60_000)
      assert.ok(!existsSync(ended))
      assertDone(await asOwner('kill', said.out.trim()))
      await until('the run to be ended', () => existsSync(ended))
      assert.equal((await statusOf('bob')).connected, false)
    })

    it('the project is on another address: who knows it from another volunteer comes there', async () => {
      await server.kill('SIGKILL')
      const file = join(dir, 'project', 'project.json')
      await writeFile(file, (await readFile(file, 'utf8')).replaceAll(old.address, moved.address))
      server = await start('server', 'project', moved)
      await until('bob to come', async () => (await statusOf('bob')).connected, 60_000)
      const { hints } = await statusOf('bob')
      assert.ok(hints.heard >= 2, JSON.stringify(hints))
      assertDone(await asOwner('run', '-W', '--engine', 'process', '--quorum', '1', '--node', 'bob', '--', 'true'))
    })
  })
}
