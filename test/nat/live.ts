/**
 * O03 far away: what a task prints and writes behind a line of 200 ms that loses 2 % reaches its owner behind a router, and goes
 * on when the home gets another address. At the other end of the line is the project's server, or a relay with the server
 * behind a router of its own.
 */
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { formatInvite } from '#client-cli/client/invite'
import { Home } from '#client-cli/live/home'
import { relayStatus } from '#client-cli/live/node-control'
import { initNode } from '#node/main'
import { initProject } from '#project-server/main'
import { initRelay } from '#relay/main'
import { begun, startProgram, type TestProcess } from '../support/process.ts'
import { assertDone, type Said, startTalko, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'
import { Internet, type Place, whyNot } from './internet.ts'

const LINES = 100
const LINE_MS_MAX = 1_000
const missing = whyNot()

export function followFarAway(relayed: boolean): void {
  describe(relayed ? 'a task far away, through a relay' : 'a task far away', { timeout: 180_000, concurrency: 1, skip: missing ?? false }, () => {
    let dir: string
    let internet: Internet
    let owner: Place
    let shell: TalkoShell
    let far: Place
    const processes: TestProcess[] = []
    const asOwner = (...argv: string[]): Promise<Said> => shell.run(...argv)

    async function start(program: string, folder: string, place: Place): Promise<TestProcess> {
      const started = startProgram(fileURLToPath(new URL(`../support/${program}`, import.meta.url)), [join(dir, folder)], {}, place.within)
      processes.push(started)
      return begun(started, place.name)
    }

    before(async () => {
      dir = await mkdtemp(join(tmpdir(), 'talko-nat-live-'))
      internet = new Internet()
      const atEnd = internet.place('end of the line', 'public')
      const home = relayed ? internet.place('server', 'cone') : atEnd
      owner = internet.place('owner', 'cone')
      shell = new TalkoShell({ TALKO_HOME: join(dir, 'home') }, { within: owner.within })
      processes.push(shell.process)
      far = internet.place('far', 'far')
      const open = `/ip4/${internet.server.address}/tcp/${internet.server.port}`
      const relays: string[] = []
      if (relayed) {
        await initRelay(join(dir, 'relay'), { listen: [open] })
        const relay = await start('relay-program.ts', 'relay', atEnd)
        relays.push(...JSON.parse(relay.lines[0] ?? '[]'))
      }
      const [listen, addresses] = relayed ? ['/ip4/0.0.0.0/tcp/4600', []] : [open, [open]]
      const { peerId } = await Home.at(join(dir, 'home')).signer()
      const { id: project } = await initProject(join(dir, 'project'), { name: 'test', owners: [peerId], listen: [listen], relays })
      await start('server-program.ts', 'project', home)
      assertDone(await asOwner('use', formatInvite({ project, addresses, bootstrap: relays })))
      await initNode(join(dir, 'far'), { project, addresses, bootstrap: relays, name: 'far', slots: 2, engines: ['process'] })
      await start('node-program.ts', 'far', far)
    })
    after(async () => {
      for (const started of processes) await started.kill('SIGTERM')
      await internet?.close()
      await rm(dir, { recursive: true, force: true })
    })

    it('is followed line by line, and through a change of its address without gap or repeat; its files are listed, read and written', async (test) => {
      // The number of each line, and the uptime of the machine when it was printed, in hundredths of a second.
      const script =
        'i=0; while [ ! -e stop ]; do i=$((i+1)); read up rest < /proc/uptime; echo "$i $up"; echo "$i $up" >> log; sleep 0.1; done; echo "stopped after $i"'
      const said = await asOwner('run', '--engine', 'process', '--quorum', '1', '--', 'sh', '-c', script)
      assertDone(said)
      const task = said.out.trim()
      const delaysMs: number[] = []
      const following = startTalko(['logs', '-f', task], { TALKO_HOME: join(dir, 'home') }, owner.within)
      processes.push(following)
      following.child.stdout?.on('data', (bytes: Buffer) => {
        const last = bytes.toString().trimEnd().split('\n').at(-1)?.split(' ')[1]
        if (last !== undefined) delaysMs.push(Number(process.hrtime.bigint()) / 1e6 - Number(last) * 1000)
      })
      const file = startTalko(['tail', '-f', '-n', '100000', `${task}/log`], { TALKO_HOME: join(dir, 'home') }, owner.within)
      processes.push(file)
      await until('lines', () => following.lines.length >= LINES && file.lines.length > 0, 60_000)
      const median = delaysMs.toSorted((a, b) => a - b)[Math.floor(delaysMs.length / 2)] ?? Number.NaN
      test.diagnostic(`a line takes ${median.toFixed(0)} ms at the median of ${delaysMs.length}`)
      assert.ok(median <= LINE_MS_MAX, `${median} ms`)

      const listed = await asOwner('ls', task)
      assertDone(listed)
      assert.match(listed.out, /log\n/)
      far.renumber()
      const before = following.lines.length
      await until('lines from the new address', () => following.lines.length > before + 150 && file.lines.length > before + 150, 60_000)
      assertDone(await asOwner('write', `${task}/stop`, ''))
      await until('the end', () => following.child.exitCode !== null && file.child.exitCode !== null, 60_000)
      const last = following.lines.at(-1)
      assert.match(last ?? '', /^stopped after \d+$/)
      const numbers = Array.from({ length: Number(last?.split(' ').at(-1)) }, (_, index) => `${index + 1}`)
      for (const lines of [following.lines.slice(0, -1), file.lines])
        assert.deepEqual(
          lines.map((line) => line.split(' ')[0]),
          numbers
        )
      assert.deepEqual(file.lines, following.lines.slice(0, -1))
      if (relayed) assert.ok(Number((await relayStatus(join(dir, 'relay'))).bytes) > 0, 'the relay carried it')
    })
  })
}
