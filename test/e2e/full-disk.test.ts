import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { onSmallDisk, type SmallDisk } from '../support/small-disk.ts'
import { assertDone, assertRefused, TALKO, TalkoShell } from '../support/talko.ts'
import { until } from '../support/until.ts'

/** The server keeps 64 MiB in reserve. */
const SERVER_MIB = 80
const NODE_MIB = 24

let dir = ''
let home = ''
let server: SmallDisk
const disks: SmallDisk[] = []
let owner: TalkoShell
const own = (...argv: readonly string[]) => owner.run(...argv)
/** More than what is left of a page of the file system that is half full. */
const LARGE = ['-e', `PAD=${'x'.repeat(16_000)}`]
const task = (...argv: readonly string[]) => own('run', '--engine', 'process', '--quorum', '1', '--disk', '4M', ...argv)

before(async () => {
  dir = await mkdtemp(join(tmpdir(), 'talko-disk-'))
  home = join(dir, 'home')
  owner = new TalkoShell({ TALKO_HOME: home })
  const script = '"$2" "$3" init "$1/project" --listen /ip4/127.0.0.1/tcp/0 --home "$4" && exec "$2" "$3" serve "$1/project" --home "$4"'
  server = await onSmallDisk(join(dir, 'server'), SERVER_MIB, script, [process.execPath, TALKO, home])
  disks.push(server)
  await until('the server', () => {
    assert.equal(server.child.exitCode, null, server.errors())
    return server.lines.some((line) => line.startsWith('talko://'))
  })
})
after(async () => {
  await owner.process.kill('SIGKILL')
  for (const disk of disks) await disk.close()
  await rm(dir, { recursive: true, force: true })
})

it('a full disk of the server: it refuses what is new with status 4, answers on, and takes up again when there is room', async () => {
  await writeFile(join(dir, 'data'), 'some data')
  assertDone(await own('upload', join(dir, 'data'), '--name', 'before'))
  server.fill()
  // The first finds out; from then on nothing is even tried.
  assertRefused(await task(...LARGE, '--', 'true'), 4, /the project server cannot write: its disk is full.*look \(talko ps\) before asking again/)
  await writeFile(join(dir, 'more'), 'more data')
  assertRefused(await own('upload', join(dir, 'more')), 4, /the project server cannot write: its disk is full; nothing was accepted\. Free some space/)
  assertRefused(await task('--name', 'refused', '--', 'true'), 4, /its disk is full; nothing was accepted/)
  assertDone(await own('nodes'))
  assertDone(await own('get', 'before', join(dir, 'got')))
  server.free()
  await until('room', async () => (await task('--name', 'accepted', '--', 'true')).status === 0)
  const names = (await own('ps', '-a', '-o', 'json')).out
  assert.match(names, /"accepted"/)
  assert.doesNotMatch(names, /"refused"/)
})

it('a full disk of a node: it stops, says why and what to do, and after its next start takes up its work', async () => {
  const invite = server.lines.findLast((line) => line.startsWith('talko://')) ?? ''
  const script =
    '"$2" "$3" node join "$4" "$1/node" --engine process && { "$2" "$3" node start "$1/node"; echo "ended $?"; read again; exec "$2" "$3" node start "$1/node"; }'
  const node = await onSmallDisk(join(dir, 'node'), NODE_MIB, script, [process.execPath, TALKO, invite])
  disks.push(node)
  await until('the node to be there', async () => (await own('nodes')).out.includes('online'))
  // What the node deletes of its own makes room again: a task may be taken yet, and fail for want of more.
  let id = ''
  await until('the node to stop', async () => {
    node.fill()
    if (node.lines.includes('ended 4')) return true
    id = (await task(...LARGE, '--force', '--', 'true')).out.trim()
    return false
  })
  const state = async (): Promise<string> => JSON.parse((await own('info', id, '-o', 'json')).out).status
  assert.match(node.errors(), /talko: the node cannot go on and stops: the disk that holds \S+node is full; free some space and start the node again/)
  node.free()
  node.tell('again')
  await until('the task to be decided', async () => (await state()) === 'ready')
})
