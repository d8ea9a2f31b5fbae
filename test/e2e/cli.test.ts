import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { access, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { fileURLToPath } from 'node:url'
import { readDaemon } from '#client-cli/live/daemon'
import { isRunning } from '#client-cli/live/process'
import { startProgram } from '../support/process.ts'
import { until } from '../support/until.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))
const TALKO = join(ROOT, 'client-cli', 'bin', 'talko.js')
const NODES = 3
const NUMBERS = 500

let dir = ''
const home = (): string => join(dir, 'h')

interface Answer {
  readonly status: number
  readonly out: string
  readonly err: string
}

/** The real binary, as a person would run it. */
function talko(...args: readonly string[]): Promise<Answer> {
  return run([TALKO, ...args])
}

function run(args: readonly string[]): Promise<Answer> {
  return new Promise((resolve) => {
    execFile(process.execPath, [...args], { cwd: ROOT, env: { ...process.env, TALKO_HOME: home(), NODE_TEST_CONTEXT: '' } }, (error, out, err) =>
      resolve({ status: error === null ? 0 : Number(error.code), out, err })
    )
  })
}

async function ok(...args: readonly string[]): Promise<string> {
  const { status, out, err } = await talko(...args)
  assert.equal(status, 0, `talko ${args.join(' ')}: ${err}`)
  return out.trim()
}

const daemons = async () => {
  const records = await Promise.all(
    ['project', ...Array.from({ length: NODES }, (_, index) => `node-${index + 1}`)].map((name) => readDaemon(join(home(), 'local', name)))
  )
  return records.filter((record) => record !== undefined)
}

describe('talko on a local network', { timeout: 240_000 }, () => {
  before(async () => {
    dir = await mkdtemp(join(tmpdir(), 'talko-cli-'))
    const invite = await ok('up', '--nodes', String(NODES), '--engine', 'process', '--slots', '2')
    assert.match(invite, /^talko:\/\/12D3Koo/)
    assert.equal(await ok('invite'), invite)
  })
  after(async () => {
    await talko('down')
    await rm(dir, { recursive: true, force: true })
  })

  it('is started once however often it is asked for, and all its nodes are online', async () => {
    const before = (await daemons()).map(({ pid }) => pid)
    await ok('up', '--nodes', String(NODES), '--engine', 'process')
    assert.deepEqual(
      (await daemons()).map(({ pid }) => pid),
      before
    )
    const nodes: { state: string }[] = JSON.parse(await ok('nodes', '-o', 'json'))
    assert.deepEqual(
      nodes.map(({ state }) => state),
      ['online', 'online', 'online']
    )
  })

  it('starts its nodes anew when it is asked for others, and keeps what is not said', async () => {
    const lent = async () => {
      const nodes: { slots: number; engines: string[] }[] = JSON.parse(await ok('nodes', '-o', 'json'))
      return nodes.map(({ slots, engines }) => [slots, ...engines].join(' '))
    }
    const [project, ...before] = (await daemons()).map(({ pid }) => pid)
    await ok('up', '--nodes', String(NODES), '--slots', '3')
    const [same, ...after] = (await daemons()).map(({ pid }) => pid)
    assert.equal(same, project)
    assert.ok(after.every((pid) => !before.includes(pid)))
    await until('all to lend more', async () => (await lent()).every((one) => one === '3 process'))
    await ok('up', '--nodes', String(NODES), '--slots', '2')
    await until('all to lend what they did', async () => (await lent()).every((one) => one === '2 process'))
  })

  it('starts again what was killed, and goes on with the same project', async () => {
    const [project, node] = await daemons()
    for (const id of [project, node]) process.kill(id?.pid ?? 0, 'SIGKILL')
    await until('the killed daemons to be gone', () => [project, node].every((id) => id !== undefined && !isRunning(id)))
    const invite = await ok('up', '--nodes', String(NODES), '--engine', 'process')
    assert.ok(invite.includes(project?.peer ?? 'no project'))
    await until('all nodes to be back', async () => {
      const nodes: { state: string }[] = JSON.parse(await ok('nodes', '-o', 'json'))
      return nodes.every(({ state }) => state === 'online')
    })
  })

  it('uploads, runs, fetches, and keeps a receipt that can be checked without any network', async () => {
    await writeFile(join(dir, 'words'), 'one\ntwo\nthree\n')
    const root = await ok('upload', join(dir, 'words'), '--name', 'words')
    assert.equal(await ok('upload', join(dir, 'words')), root)
    const task = await ok('run', '--engine', 'process', '-i', 'in=words', '-W', '--', 'sh', '-c', 'wc -l < "$TALKO_IN/in" | tr -d " "; cp "$TALKO_IN/in" copy')
    assert.match(task, /^[a-z2-7]{26}\.0$/)
    assert.equal(await ok('logs', task.slice(0, 10)), '3')
    await ok('get', task, '--to', join(dir, 'got'))
    assert.equal(await readFile(join(dir, 'got', 'copy'), 'utf8'), 'one\ntwo\nthree\n')
    assert.equal(await ok('get', `${task}/copy`, '--to', '-'), 'one\ntwo\nthree')
    const receipt = join(dir, 'receipt')
    await ok('receipt', 'save', task, '--to', receipt)
    const { peer } = (await daemons())[0] ?? {}
    assert.match(await ok('receipt', 'check', receipt, '--home', join(dir, 'elsewhere'), '--project', peer ?? ''), /2 different nodes agree, quorum 2\nok$/)
    const bytes = await readFile(receipt)
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1
    await writeFile(join(dir, 'forged'), bytes)
    assert.equal((await talko('receipt', 'check', join(dir, 'forged'))).status, 4)
  })

  it('maps and reduces to what a serial program finds', async () => {
    const numbers = Array.from({ length: NUMBERS }, (_, index) => index * 7)
    await writeFile(join(dir, 'numbers'), `${numbers.join('\n')}\n`)
    const sum = "awk '{ s += $1 } END { print s }'"
    const { status, out, err } = await talko(
      ...['map', join(dir, 'numbers'), '--split', 'lines=60', '--engine', 'process', '--reduce', `cat "$TALKO_IN"/maps/*/stdout | ${sum}`],
      ...['--', 'sh', '-c', `${sum} "$TALKO_IN/part"; echo "$TALKO_INDEX of $TALKO_COUNT" > which`]
    )
    assert.equal(status, 0, err)
    assert.equal(out, `${numbers.reduce((total, number) => total + number, 0)}\n`)
    const parts = Math.ceil(NUMBERS / 60)
    assert.match(err, new RegExp(`${parts} map tasks`))
    const batch = /batch ([a-z2-7]{26}): \d+ map tasks/.exec(err)?.[1] ?? ''
    assert.equal(await ok('get', `${batch}.2/which`, '-'), `2 of ${parts}`)

    await ok('upload', join(dir, 'numbers'), '--name', 'numbers')
    const again = await ok('map', 'numbers', '--split', 'parts=2', '--engine', 'process', '-W', '-o', 'json', '--', 'sh', '-c', `${sum} "$TALKO_IN/part"`)
    const { tasks }: { tasks: { status: string }[] } = JSON.parse(again)
    assert.deepEqual(
      tasks.map(({ status }) => status),
      ['ready', 'ready']
    )
  })

  it('fills in a template, from a file and from the project, and says which parameter is wrong (S22)', async () => {
    const file = join(dir, 'count.yaml')
    await writeFile(
      file,
      'template: run\nabout: counts\nparameters:\n  words: { type: input }\n  word: { type: text, about: what is looked for }\n  quorum: { type: whole, default: 2 }\ncommand: grep -c "$WORD" "$TALKO_IN/words"\noptions: { engine: process, input: { words: "{{words}}" }, env: { WORD: "{{word}}" }, quorum: "{{quorum}}" }\n'
    )
    await writeFile(join(dir, 'words'), 'one $(id)\ntwo\none\n')
    const listed = await ok('template', 'check', file)
    assert.match(listed, /a template for talko run: counts\n.*word +text +must be set +what is looked for/s)
    const first = JSON.parse(await ok('run', file, '--set', `words=${join(dir, 'words')}`, '--set', 'word=$(id)', '-W', '-o', 'json'))
    assert.equal(await ok('logs', `${first.batch}.0`), '1')
    await ok('upload', file, '--name', 'count.yaml')
    const { batch } = JSON.parse(
      await ok('run', 'count.yaml', '--set', `words=${join(dir, 'words')}`, '--set', 'word=one', '--name', 'counted', '-W', '-o', 'json')
    )
    assert.equal(await ok('logs', `${batch}.0`), '2')
    const wrong = await talko('run', 'count.yaml', '--set', 'word=one', '--set', 'wrods=x')
    assert.equal(wrong.status, 2)
    assert.match(wrong.err, /count\.yaml has no parameter "wrods"; it has words, word, quorum/)
    const other = await talko('map', file, '--set', 'word=one')
    assert.match(other.err, /is a template for talko run, not for talko map/)
  })

  it('follows a log while the task runs, and kills a task', async () => {
    const go = join(dir, 'go')
    const program = startProgram(
      TALKO,
      ['run', '--engine', 'process', '-f', '--', 'sh', '-c', `echo begun; until [ -e ${go} ]; do sleep 0.1; done; echo done`],
      { TALKO_HOME: home() }
    )
    await until('the first line of a running task', () => program.lines.includes('begun'))
    await writeFile(go, '')
    await until('the end of the log', () => program.child.exitCode !== null)
    assert.deepEqual([program.child.exitCode, program.lines], [0, ['begun', 'done']], program.errors())

    const marker = join(dir, 'alive')
    const task = await ok('run', '--engine', 'process', '--quorum', '1', '--', 'sh', '-c', `echo $$ > ${marker}; exec sleep 1000`)
    const pid = await until('the task to run', async () => Number(await readFile(marker, 'utf8').catch(() => '')) || undefined)
    assert.equal(await ok('kill', task), task)
    assert.match(await ok('info', task), /^state +killed$/m)
    await until('the process to end', () =>
      access(`/proc/${pid}`).then(
        () => false,
        () => true
      )
    )
  })

  it('says how a task failed with its status', async () => {
    const failed = await talko('run', '--engine', 'process', '-W', '--', 'sh', '-c', 'exit 3')
    assert.equal(failed.status, 1, failed.err)
    assert.match(failed.err, /failed: exit status 3/)
    assert.equal((await talko('info', 'nonsense')).status, 3)
    assert.equal((await talko('get', failed.out.trim().slice(0, 8), '--to', dir)).status, 4)
    const endless = await ok('run', '--engine', 'process', '--', 'sleep', '600')
    const timeout = await talko('logs', '-f', endless, '--timeout', '1s')
    assert.equal(timeout.status, 124, timeout.err)
    const second = await ok('run', '--engine', 'process', '--', 'sleep', '601')
    const killed = await talko('kill', 'nonsense', endless, second)
    assert.deepEqual([killed.status, killed.out], [3, `${endless}\n${second}\n`], killed.err)
    assert.match(killed.err, /^2 tasks: ended;.*\ntalko: nothing here is called "nonsense"/)
    const stranger = await talko('ps', '--home', join(dir, 'stranger'), '--project', await ok('invite'))
    assert.equal(stranger.status, 4, stranger.err)
    assert.match(stranger.err, /is not an owner of this project/)
  })

  it('tells of a program that it does not always leave the same, also where only the second of the day differs', async () => {
    const differs = await talko('run', '--engine', 'process', '--self-test', '--', 'sh', '-c', 'date +%s > now; echo same > same')
    assert.equal(differs.status, 5, differs.err)
    assert.match(differs.out, /^ {2}now: .*: a date or time;/m)
    assert.doesNotMatch(differs.out, /^ {2}same:/m)
    const same = await talko('run', '--engine', 'process', '--self-test', '--', 'sh', '-c', 'echo same > same')
    assert.deepEqual([same.status, /^the same output on/.test(same.out)], [0, true], same.err)
  })

  it('runs the program of the README as it is written', async () => {
    const program = readmeProgram(await readFile(join(ROOT, 'README.md'), 'utf8')).replace(/image: '[^']*'/, "engine: 'process'")
    const folder = join(dir, 'program')
    await mkdir(join(folder, 'node_modules'), { recursive: true })
    await symlink(ROOT, join(folder, 'node_modules', 'talko'))
    await writeFile(join(folder, 'package.json'), '{"type":"module"}')
    await writeFile(join(folder, 'program.ts'), program)
    const { status, out, err } = await run([join(folder, 'program.ts')])
    assert.equal(status, 0, err)
    assert.ok(out.trim().split('\n').length >= 3, out)
  })

  it('is stopped at once, whatever is left of it', async () => {
    const running = await daemons()
    assert.equal(running.filter(isRunning).length, NODES + 1)
    process.kill(running[1]?.pid ?? 0, 'SIGKILL')
    await ok('down')
    assert.deepEqual(running.filter(isRunning), [])
    assert.match((await talko('down')).err, /nothing runs/)
    assert.equal((await talko('ps')).status, 6)
  })
})

/** The first program in TypeScript that imports the library. */
function readmeProgram(readme: string): string {
  const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map(([, code]) => code ?? '')
  return blocks.find((code) => code.includes("from 'talko'")) ?? assert.fail('README.md has no program that imports talko')
}
