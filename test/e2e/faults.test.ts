import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { Client } from '#client-cli/index'
import { generateIdentity } from '#protocol/signing/keys'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { freePort } from '../support/ports.ts'
import { scriptedExecutor } from '../support/scripted-executor.ts'
import { assertDone, assertRefused, startTalko, TalkoShell, talko } from '../support/talko.ts'
import { until } from '../support/until.ts'

const MISSING = 'bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi'
const NO_DOCKER = { DOCKER_HOST: 'unix:///nowhere/docker.sock' }
const NOBODY = 65534

let network: TestNetwork
let client: Client
let dir = ''
let invite = ''
/** Of the project's owner. */
let env: Record<string, string>
let shell: TalkoShell | undefined
/** A finished task. */
let done = ''

before(async () => {
  network = await testNetwork()
  dir = network.dir
  invite = `talko://${network.project}?a=${network.address.replace(/\/p2p\/.*/, '')}`
  env = { TALKO_HOME: join(dir, 'home'), TALKO_PROJECT: invite }
  shell = new TalkoShell(env, { cwd: dir })
  client = await network.client()
  await network.nodeProcess('ann', { slots: 4 })
  const batch = await client.submit(await client.prepare([{ command: ['sh', '-c', 'echo made > made'], engine: 'process' }]), { policy: { minQuorum: 1 } })
  await client.wait(batch.id)
  done = batch.tasks[0] ?? ''
  await chmod(dir, 0o755) // keys in it are for their owner only, and another user gets as far as them
  await mkdir(join(dir, 'taken'))
  await writeFile(join(dir, 'empty'), '')
  await mkdir(join(dir, 'linked'))
  await symlink('/etc/passwd', join(dir, 'linked', 'link'))
  await mkdir(join(dir, 'piped'))
  execFileSync('mkfifo', [join(dir, 'piped', 'pipe')])
})
after(async () => {
  await shell?.process.kill('SIGTERM')
  await network.close()
  assert.equal(shell?.process.errors() ?? '', '', 'something was printed beside what the commands say')
})

/** Command lines of the owner, all in one process. */
const ask = async (...argv: readonly string[]) => (shell ?? assert.fail()).run(...argv)
/** Each a process, as in a person's shell: what would go on if it were not refused, and at least one for every status. */
const own = (...argv: readonly string[]) => talko(argv, { env, cwd: dir })
const goesOn = ([first = '']: readonly string[]): boolean => first === 'serve' || first === 'node'
const onAnn = (...argv: readonly string[]) => own('run', '--engine', 'process', '--quorum', '1', '--node', 'ann', ...argv)

describe('what is not there', { concurrency: 3 }, () => {
  const cases: readonly (readonly [argv: readonly string[], says: RegExp])[] = [
    [['run', MISSING, '--', 'x'], new RegExp(`does not hold image ${MISSING}: import it first`)],
    [['run', './no-image.tar', '--', 'x'], /there is no file or folder \.\/no-image\.tar/],
    [['image', 'import', './no-image.tar'], /there is no file or folder/],
    [['run', '--engine', 'process', '-i', `d=${MISSING}`, '--', 'x'], new RegExp(`input d, ${MISSING}: upload it first`)],
    [['run', '--engine', 'process', '-i', 'd=./no-data', '--', 'x'], /input d: there is no file or folder/],
    [['run', '--engine', 'process', '-i', 'd=no-data', '--', 'x'], /no data, image or task is known as "no-data"; see/],
    [['run', '--engine', 'process', '--node', 'zoe', '--', 'x'], /no node is known as "zoe"; see `talko nodes`/],
    [['upload', 'no-data'], /no-data does not exist/],
    [['map', './no-data', '--engine', 'process', '--split', 'parts=2', '--', 'x'], /there is no file \.\/no-data/],
    [['info', 'zzzz'], /nothing here is called "zzzz"; see talko ps/],
    [['serve', 'nothing'], /is not a project's folder: make one with talko init/],
    [['serve', 'nothing', '--detach'], /is not a project's folder: make one with talko init/],
    [['node', 'start', 'nothing'], /there is no node in .*; make one with: talko node join/],
    [['node', 'start', 'nothing', '--detach'], /there is no node in .*; make one with: talko node join/]
  ]
  for (const [argv, says] of cases)
    it(`is named, with status 3: ${argv.join(' ').slice(0, 60)}`, async () => assertRefused(await (goesOn(argv) ? own : ask)(...argv), 3, says))

  it('is named, with status 3: a path in an output', async () => assertRefused(await ask('get', `${done}/other`, 'other'), 3, /there is no "other" in/))
  after(() => assert.ok(!existsSync(join(dir, 'nothing')), 'a folder named by mistake was made'))
})

describe('what cannot be taken', { concurrency: 3 }, () => {
  const cases: readonly (readonly [argv: readonly string[], status: number, says: RegExp])[] = [
    [['upload', 'linked'], 4, /link is a symbolic link, which cannot be part of a tree/],
    [['upload', 'piped'], 4, /pipe is a fifo, which cannot be part of a tree/],
    [['upload', '/dev/null'], 4, /is neither a file nor a folder/],
    [['map', 'empty', '--engine', 'process', '--split', 'lines=1', '--', 'cat'], 2, /empty is empty; there is nothing to map/],
    [['image', 'import', './empty'], 2, /is not an image archive; make one with: docker save/],
    [['init', 'made', '--listen', 'nonsense'], 2, /"listen" must be a list of multiaddrs such as \/ip4\/0\.0\.0\.0\/tcp\/4600/],
    [['init', 'project'], 4, /holds a project already/],
    [['ps', '--project', 'talko://nonsense'], 2, /not an invite/]
  ]
  for (const [argv, status, says] of cases)
    it(`is refused with status ${status}: ${argv.join(' ')}`, async () => assertRefused(await ask(...argv), status, says))

  it('is refused with status 4: a place to get to that is taken', async () => {
    assertRefused(await ask('get', done, 'taken'), 4, /taken exists already; choose a new path/)
    assert.deepEqual(await readdir(join(dir, 'taken')), [])
  })

  it('is refused with status 2: a prefix that could be two things', async () => {
    const manifests = await client.prepare([{ command: ['true'], engine: 'process' }])
    // Ids begin with one of 32 letters: of 33, two begin alike.
    const firsts = (await Promise.all(Array.from({ length: 33 }, () => client.submit(manifests, { policy: { minQuorum: 1 } })))).map(({ id }) => id.slice(0, 1))
    const shared = firsts.find((first, index) => firsts.indexOf(first) < index) ?? ''
    assertRefused(await ask('info', shared), 2, new RegExp(`"${shared}" could be ${shared}\\w+ or ${shared}\\w+: give more of the id`))
  })

  it('is refused: a manifest that is malformed, or too large; and nothing of its batch is accepted', async () => {
    const [good = new Uint8Array(0)] = await client.prepare([{ command: ['true'], engine: 'process' }])
    const named = { name: 'refused' }
    await assert.rejects(client.submit([good, good.subarray(1)], named), { code: 'usage', message: /^task 1: / })
    await assert.rejects(client.submit([good, new Uint8Array(100_000)], named), { code: 'usage', message: /^task 1: / })
    assert.deepEqual(
      (await client.batches(100)).filter(({ name }) => name === named.name),
      []
    )
  })
})

describe('a project that is not the right one, or not there', { concurrency: 3 }, () => {
  it('knows who is no owner: status 4', async () => {
    const home = join(dir, 'stranger')
    assertRefused(
      await talko(['ps', '--home', home], { env }),
      4,
      /12D3KooW\w+ is not an owner of this project: its administrator can let you in .* or add .* to "owners" in the server's project\.json/
    )
  })

  it('answers as another than the invite says: status 4; and a node of that invite says so and goes on trying', async () => {
    const { peerId } = await generateIdentity()
    const wrong = invite.replace(network.project, peerId)
    assertRefused(await ask('ps', '--project', wrong), 4, new RegExp(`answers, but not as ${peerId}: check the project id`))
    assertDone(await own('node', 'join', wrong, 'lost', '--engine', 'process'))
    const node = startTalko(['node', 'start', join(dir, 'lost')], env)
    await until('the node to say it', () => /not connected to the project.*answers, but not as/.test(node.errors()))
    await node.kill('SIGINT')
    assert.equal(node.child.exitCode, 0, node.errors())
  })

  it('does not answer: status 6', async () => {
    const gone = `talko://${network.project}?a=/ip4/127.0.0.1/tcp/${await freePort()}`
    assertRefused(await ask('ps', '--project', gone), 6, /nothing listens there\); is its server running/)
    assertRefused(await ask('ps', '--project', `talko://${network.project}`), 6, /no address of it is known; give its invite/)
    assertRefused(await own('node', 'status', 'nowhere'), 6, /no node runs in .*; start it with/)
  })
})

describe('a task', () => {
  it('whose command does not exist fails with status 1, and its stderr is named', async () => {
    const { status, err } = await onAnn('-W', '--', 'no-such-command')
    assert.equal(status, 1, err)
    assert.match(err, /failed: exit status 127 \(no such command\?\)/)
    const [, id = ''] = /see talko logs --stderr (\S+)/.exec(err) ?? []
    assert.match((await ask('logs', '--stderr', id)).out, /no-such-command: command not found/)
  })

  it('on which nobody agrees ends with status 5', async () => {
    let answers = 0
    const names = ['r1', 'r2', 'r3', 'r4', 'r5', 'r6']
    const nodes = await Promise.all(names.map((name) => network.node(name, [scriptedExecutor({ script: () => ({ answer: `random ${answers++}` }) })])))
    const { status, err } = await own('run', '--engine', 'process', '-W', ...names.flatMap((name) => ['--node', name]), '--', 'random')
    await Promise.all(nodes.map((node) => node.stop('now')))
    assert.equal(status, 5, err)
    assert.match(err, /failed: no agreement/)
  })

  it('goes on when its time to wait is over (124) or Ctrl-C is pressed (130), and both say how to come back', async () => {
    // The time counts from the command's start: a busy machine may need more of it until something is submitted.
    let late = { status: null as number | null, out: '', err: '' }
    for (let seconds = 3; late.out === '' && seconds <= 48; seconds *= 2) {
      late = await onAnn('-W', '--timeout', `${seconds}s`, '--', 'sleep', '90')
      assert.equal(late.status, 124, late.err)
      assert.match(late.err, new RegExp(`talko: not done after ${seconds}s \\(talko ps shows what was submitted\\)`))
    }
    const id = late.out.trim()
    assert.match(late.err, new RegExp(`${id.replace(/\.0$/, '')} goes on without us: talko info`))
    await client.kill(id)

    const marker = join(dir, 'go-on')
    const command = ['sh', '-c', `echo begun; while [ ! -e ${marker} ]; do sleep 0.1; done; echo ended`]
    for (const flag of ['-W', '-f']) {
      await rm(marker, { force: true })
      const waiting = startTalko(['run', '--engine', 'process', '--quorum', '1', '--node', 'ann', '--force', flag, '--', ...command], env)
      // With -f its first line is the task's own, and the id is told beside it.
      await until('the task to run', () => waiting.lines.length > 0)
      await waiting.kill('SIGINT')
      assert.equal(waiting.child.exitCode, 130, waiting.errors())
      const [, id = ''] = /(\S+) goes on without us: talko info \S+ · talko kill \S+/.exec(waiting.errors()) ?? []
      await writeFile(marker, '')
      await client.wait(id.replace(/\.0$/, ''))
      assert.equal((await client.task(id)).status, 'ready')
    }
  })
})

describe('a folder', { concurrency: 3 }, () => {
  /** A project and a node of their own, never started. */
  const made = async (name: string): Promise<{ readonly project: string; readonly node: string; readonly home: string }> => {
    const home = join(dir, `${name}-home`)
    await mkdir(home, { mode: 0o755 })
    const folders = { project: join(dir, `${name}-project`), node: join(dir, `${name}-node`), home }
    assertDone(await ask('init', folders.project, '--listen', '/ip4/127.0.0.1/tcp/0', '--home', home))
    assertDone(await ask('node', 'join', invite, folders.node, '--engine', 'process'))
    return folders
  }

  it('with broken settings is refused with status 2, naming the file', async () => {
    const { project, node } = await made('broken')
    await writeFile(join(project, 'project.json'), '{"v":1,')
    assertRefused(await talko(['serve', project]), 2, /project\.json: it is not JSON; correct it/)
    assertRefused(await talko(['serve', project, '--detach']), 2, /project\.json: it is not JSON; correct it/)
    await writeFile(join(node, 'node.json'), '{"v":1,')
    assertRefused(await talko(['node', 'start', node]), 2, /node\.json is not JSON; correct it/)
    await writeFile(join(node, 'node.json'), JSON.stringify({ v: 2 }))
    assertRefused(await talko(['node', 'start', node]), 2, /version 2 is not known/)
  })

  it('with a key that is damaged, missing or not for us is refused with status 4, naming the file', async () => {
    const { project, node, home } = await made('keys')
    const keys = [
      {
        path: join(project, 'project.key'),
        argv: ['serve', project],
        broken: /project\.key does not hold a project's key: restore/,
        missing: /project\.key is missing: restore/
      },
      {
        path: join(node, 'node.key'),
        argv: ['node', 'start', node],
        broken: /node\.key is not a node's key; restore/,
        missing: /node\.key is missing; restore/
      },
      { path: join(home, 'client.key'), argv: ['ps', '--home', home, '--project', invite], broken: /client\.key is not a key; restore/, missing: undefined }
    ]
    for (const { path, argv, broken, missing } of keys) {
      const key = await readFile(path)
      if (process.getuid?.() === 0) assertRefused(await talko(argv, { uid: NOBODY }), 4, /\.key:? (permission denied|may not be read by this user)/)
      await writeFile(path, 'nonsense')
      assertRefused(await talko(argv), 4, broken)
      await rm(path)
      if (missing !== undefined) assertRefused(await talko(argv), 4, missing)
      await writeFile(path, key, { mode: 0o600 })
    }
  })

  it('lets one server and one node in: the second is refused with status 4', async () => {
    assertRefused(await own('serve', 'project', '--listen', '/ip4/127.0.0.1/tcp/0'), 4, /another project server runs on .*project: stop it first/)
    assertRefused(await own('node', 'start', 'ann'), 4, /another node runs on .*ann; stop it first \(talko node stop\)/)
    assertRefused(await own('node', 'join', invite, 'ann'), 4, /there is a node in .*ann already; start it/)
    assert.equal((await client.nodes()).find(({ name }) => name === 'ann')?.state, 'online')
  })

  it('of a server whose port is taken, or cannot be had, is refused and says --listen', async () => {
    const { project } = await made('port')
    const taken = network.address.replace(/\/p2p\/.*/, '')
    assertRefused(await talko(['serve', project, '--listen', taken]), 4, /is in use by another program; .*talko serve --listen/)
    assertRefused(await talko(['serve', project, '--listen', '/ip4/192.0.2.1/tcp/4600']), 2, /cannot listen on .*talko serve --listen/)
  })

  it('of a server that was stopped with Ctrl-C is left in order', async () => {
    const { project, home } = await made('ended')
    const server = startTalko(['serve', project, '--home', home])
    await until('its invite', () => server.lines.length > 0)
    await server.kill('SIGINT')
    assert.equal(server.child.exitCode, 0, server.errors())
    assert.match(server.errors(), /the project server has stopped/)
    assert.deepEqual((await readdir(project)).sort(), ['content', 'project.json', 'project.key', 'state'])
  })
})

describe('without Docker', { concurrency: 3 }, () => {
  it('no image can be had by its name: status 6, and what to do', async () => {
    const says = /Docker does not answer .*; start Docker, or import a file or folder/
    assertRefused(await talko(['image', 'import', 'alpine'], { env: { ...env, ...NO_DOCKER } }), 6, says)
    assertRefused(await talko(['run', 'alpine', '--', 'x'], { env: { ...env, ...NO_DOCKER } }), 6, says)
  })

  it('a node starts, says so, and takes no work', async () => {
    const folder = join(dir, 'dockerless')
    assertDone(await own('node', 'join', invite, folder))
    assertDone(await talko(['node', 'start', folder, '--detach'], { env: { ...env, ...NO_DOCKER } }))
    try {
      const status = await until('the look at the engine', async () => {
        const said = await own('node', 'status', folder, '-o', 'json')
        const value = JSON.parse(said.out)
        return value.trouble === '' ? undefined : value
      })
      assert.match(status.trouble, /^Docker does not answer \(.*\); start it/)
      assert.equal(status.engineUp, false)
    } finally {
      assertDone(await own('node', 'stop', folder))
    }
  })
})

describe('a local network', () => {
  it('is started once, keeps its port, says when it had to take another, and is stopped once', async () => {
    const home = await mkdtemp(join(tmpdir(), 'talko-up-'))
    const run = (...argv: readonly string[]) => talko([...argv, '--home', home])
    try {
      const idle = await run('down')
      assertDone(idle)
      assert.match(idle.err, /^nothing runs in /)
      const first = await run('up', '--nodes', '1', '--engine', 'process')
      assertDone(first)
      const second = await run('up', '--nodes', '1', '--engine', 'process')
      assertDone(second)
      assert.equal(second.out, first.out)
      assert.match(second.err, /1 nodes are connected \(0 started now\)/)
      assert.match((await run('down')).err, /^stopped the project server and 1 nodes/)
      assert.match((await run('down')).err, /^nothing runs in /)

      const third = await run('up', '--nodes', '0')
      assertDone(third)
      assert.equal(third.out, first.out, 'the invite of a network that was started again is another')
      assertDone(await run('down'))
      const port = Number(/tcp\/(\d+)/.exec(first.out)?.[1])
      const squatter = createServer().listen(port, '127.0.0.1')
      await once(squatter, 'listening')
      const moved = await run('up', '--nodes', '1')
      squatter.close()
      assertDone(moved)
      assert.match(moved.err, new RegExp(`127\\.0\\.0\\.1:${port} is in use by another program; .*from now on it listens on`))
      assert.match(moved.err, /1 nodes are connected/)
    } finally {
      await run('down', '--delete')
      await rm(home, { recursive: true, force: true })
    }
  })
})
