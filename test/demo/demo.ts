/**
 * `npm run demo`: a project server and five volunteers on this machine, each a process of its own, with real containers. One
 * volunteer lies about every result and one is killed in the middle. Together they count the primes from 1,000,000 to
 * 2,000,000 and paint a picture; then every receipt is checked without any network.
 */
import { copyFileSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { type Client, connect } from '#client-cli/index'
import { messageOf } from '#protocol/message-of'
import { checkReceipt } from '#protocol/result/receipt'
import { freePort } from '../support/ports.ts'
import { writeImageRoot } from './image.ts'
import { type Actor, DemoError, Interrupted, Stage, until } from './stage.ts'
import { HEIGHT, tileLines, WIDTH } from './tasks/picture.mjs'

const ROOT = resolve(import.meta.dirname, '../..')
const PROGRAMS = join(import.meta.dirname, 'tasks')
const LIAR_PROGRAM = join(ROOT, 'test/faults/lying-node.ts')
const PICTURE = join(ROOT, '.demo', 'picture.png')
const [FIRST, LAST, TASKS] = [1_000_000, 2_000_000, 20]
const PRIMES = 70_435
const HONEST = ['aino', 'eero', 'liisa', 'onni']
const LIAR = 'loki'
const VICTIM = 'eero'
/** Decided tasks after which the victim is killed. */
const MIDDLE = 5
/** Exit status of what Ctrl-C ended. */
const INTERRUPTED = 130

const number = (value: number): string => value.toLocaleString('en')
const short = (id: string): string => `${id.slice(0, 10)}…`

let chapters = 0
function chapter(title: string): void {
  chapters++
  console.log(`\n${chapters}. ${title}`)
}
let over = false
function tell(line: string): void {
  if (!over) console.log(`   ${line}`)
}
function typed(line: string): void {
  console.log(`   $ talko ${line}`)
}

interface Cast {
  readonly project: string
  readonly server: Actor
  readonly actors: ReadonlyMap<string, Actor>
  readonly names: ReadonlyMap<string, string>
  readonly client: Client
}

async function openProject(stage: Stage): Promise<{ server: Actor; invite: string }> {
  chapter('A project: a key, and the server that hands out its work')
  const listen = `/ip4/127.0.0.1/tcp/${await freePort()}`
  typed(`init project --name demo --listen ${listen}`)
  const { stdout: project } = await stage.talko(['init', stage.path('project'), '--name', 'demo', '--listen', listen])
  typed('serve project')
  const server = await stage.start('the project server', 'talko', ['serve', stage.path('project')])
  const { stdout: invite } = await stage.talko(['invite', stage.path('project')])
  tell(`The project's id is its public key, ${short(project)} Volunteers join with its invite, ${invite.slice(0, 22)}…`)
  return { server, invite }
}

async function publish(stage: Stage): Promise<void> {
  chapter('What tasks run in, and what they run: both named by their content')
  writeImageRoot(stage.path('root'), process.execPath)
  typed('image import root --name tools')
  const { stdout: image } = await stage.talko(['image', 'import', stage.path('root'), '--name', 'tools'])
  tell(`${image}  (busybox and Node)`)
  typed(`upload ${relative(process.cwd(), PROGRAMS)} --name programs`)
  const { stdout: programs } = await stage.talko(['upload', PROGRAMS, '--name', 'programs'])
  tell(`${programs}  (${readdirSync(PROGRAMS).length} small programs)`)
}

async function gather(stage: Stage, invite: string): Promise<{ actors: Map<string, Actor>; names: Map<string, string> }> {
  chapter('Five volunteers join, each a process of its own')
  const actors = new Map<string, Actor>()
  const names = new Map<string, string>()
  typed(`node join ${invite.slice(0, 22)}… aino; talko node start aino   (and so on)`)
  await Promise.all(
    [...HONEST, LIAR].map(async (name) => {
      const { stdout: peer } = await stage.talko(['node', 'join', invite, stage.path(name), '--name', name])
      stage.remember(peer)
      names.set(peer, name)
      actors.set(
        name,
        name === LIAR ? await stage.start(name, LIAR_PROGRAM, [stage.path(name)]) : await stage.start(name, 'talko', ['node', 'start', stage.path(name)])
      )
    })
  )
  tell(`${HONEST.join(', ')} run what they are given. ${LIAR} does too, then changes every answer before signing it.`)
  return { actors, names }
}

async function countPrimes(stage: Stage, { client, actors, names }: Cast): Promise<string> {
  chapter(`How many primes are there from ${number(FIRST)} to ${number(LAST)}?`)
  const step = (LAST - FIRST) / TASKS
  const ranges = Array.from({ length: TASKS }, (_, index) => `${FIRST + index * step} ${FIRST + (index + 1) * step - (index === TASKS - 1 ? 0 : 1)}\n`)
  writeFileSync(stage.path('ranges'), ranges.join(''))
  typed('map ranges --split lines=1 --image tools -i programs=programs --quorum 2 --name primes \\')
  console.log("       --reduce 'node /in/programs/sum.mjs /in/maps /out' -- node /in/programs/primes.mjs /in/part /out")
  const mapped = stage.talko(
    [
      ...['map', stage.path('ranges'), '--split', 'lines=1', '--image', 'tools', '-i', 'programs=programs', '--quorum', '2', '--name', 'primes'],
      ...['--reduce', 'node /in/programs/sum.mjs /in/maps /out', '--', 'node', '/in/programs/primes.mjs', '/in/part', '/out']
    ],
    { onLine: tell }
  )
  mapped.catch(() => undefined)
  const batch = await during(mapped, batchNamed(client, 'primes'))
  await during(mapped, killInTheMiddle(stage, { client, actors, batch }))
  const { stdout } = await mapped
  tell(`The answer: ${number(Number(stdout))}`)
  if (Number(stdout) !== PRIMES) throw new DemoError(`the count should be ${number(PRIMES)}`)
  await whoAgreed(client, batch, names)
  return batch
}

/** A scene that makes no sense once `command` has failed. */
function during<T>(command: Promise<unknown>, scene: Promise<T>): Promise<T> {
  return Promise.race([scene, command.then(() => scene)])
}

function batchNamed(client: Client, name: string): Promise<string> {
  return until(`the batch ${name}`, async () => (await client.batches(10)).find((batch) => batch.name === name)?.id)
}

/** kill -9 for one volunteer, at a moment when it holds work. */
async function killInTheMiddle(stage: Stage, { client, actors, batch }: Pick<Cast, 'client' | 'actors'> & { batch: string }): Promise<void> {
  await until('the middle of the batch', async () => {
    await stage.noteImage()
    const decided = (await client.batches(10)).find(({ id }) => id === batch)?.ready ?? 0
    const busy = (await client.nodes()).some(({ name, busy }) => name === VICTIM && busy > 0)
    return (decided >= MIDDLE && busy) || undefined
  })
  await actors.get(VICTIM)?.kill()
  tell(`kill -9: ${VICTIM} is gone in the middle of a task. When it was silent for 12 to 18 seconds, others get what it held.`)
}

/** Who agreed on each part, who said otherwise, and whose work was lost. */
async function whoAgreed(client: Client, batch: string, names: ReadonlyMap<string, string>): Promise<void> {
  tell('Who agreed on what:')
  const named = (peer: string): string => names.get(peer) ?? short(peer)
  for await (const { id, index, output } of client.tasks(batch)) {
    const { receipt, results = [] } = checkReceipt(await client.receipt(id))
    const { replicas = [] } = await client.task(id)
    const count = output === undefined ? '' : (await textOf(client, output, 'count')).trim()
    const lost = replicas.filter(({ state }) => state === 'lost').map(({ node }) => named(node))
    const notes = [...(receipt?.dissent ?? []).map(({ node }) => `${named(node)} said otherwise`), ...lost.map((name) => `${name} was lost with it`)]
    tell(
      `  ${index === TASKS ? 'reduce ' : `task ${String(index).padStart(2)}`}  ${number(Number(count)).padStart(5)} primes  ${results.map(({ node }) => named(node)).join(' and ')}${notes.length === 0 ? '' : `  (${notes.join(', ')})`}`
    )
  }
}

async function textOf(client: Client, root: string, path: string): Promise<string> {
  const pieces: Uint8Array[] = []
  for await (const piece of client.read({ root, path })) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

async function paint(stage: Stage, { client }: Cast): Promise<string> {
  chapter(`A picture, ${WIDTH} by ${HEIGHT}, painted in ${tileLines().length} tiles and joined`)
  writeFileSync(stage.path('tiles'), `${tileLines().join('\n')}\n`)
  typed('map tiles --split lines=1 --image tools -i programs=programs --quorum 2 --name picture \\')
  console.log("       --reduce 'node /in/programs/join.mjs /in/maps /out' -- node /in/programs/tile.mjs /in/part /out")
  const mapped = stage.talko(
    [
      ...['map', stage.path('tiles'), '--split', 'lines=1', '--image', 'tools', '-i', 'programs=programs', '--quorum', '2', '--name', 'picture'],
      ...['--reduce', 'node /in/programs/join.mjs /in/maps /out', '--', 'node', '/in/programs/tile.mjs', '/in/part', '/out']
    ],
    { onLine: tell }
  )
  mapped.catch(() => undefined)
  const batch = await during(mapped, batchNamed(client, 'picture'))
  await during(mapped, followOne(stage, client, batch))
  await mapped
  const joined = `${batch}.${tileLines().length}`
  mkdirSync(dirname(PICTURE), { recursive: true })
  typed(`get ${short(joined)}/picture.png --to picture.png`)
  await stage.talko(['get', `${joined}/picture.png`, '--to', stage.path('picture.png')])
  copyFileSync(stage.path('picture.png'), PICTURE)
  return batch
}

/** The first lines of a tile while its container paints it. */
async function followOne(stage: Stage, client: Client, batch: string): Promise<void> {
  const task = await until('a running tile', async () => {
    for await (const { id, status } of client.tasks(batch)) if (status === 'running') return id
    return undefined
  })
  typed(`logs -f ${short(task)}   (what a container prints, while it runs)`)
  for (const line of await stage.lines(['logs', '-f', task], 2)) tell(`  ${line}`)
}

async function judge(stage: Stage, { client }: Cast, batches: readonly string[]): Promise<void> {
  chapter('What was caught')
  typed('nodes')
  const nodes = await client.nodes()
  for (const { name, state, valid, invalid, lost } of nodes)
    tell(`  ${name.padEnd(6)} ${state.padEnd(7)} ${String(valid).padStart(3)} agreed  ${String(invalid).padStart(3)} refuted  ${lost} lost`)
  const liar = nodes.find(({ name }) => name === LIAR)
  const victim = nodes.find(({ name }) => name === VICTIM)
  if (liar === undefined || liar.invalid === 0 || liar.valid > 0) throw new DemoError(`${LIAR} was not caught`)
  if (victim === undefined || victim.lost === 0) throw new DemoError(`${VICTIM} lost nothing`)
  tell(
    `${LIAR} lied ${liar.invalid} times and was believed 0 times; ${victim.lost} of ${VICTIM}'s replicas ${victim.lost === 1 ? 'was' : 'were'} done by others.`
  )
  for (const batch of batches) await stage.talko(['receipt', 'save', batch, '--to', stage.path(`receipts-${batch}`)])
}

/** With the server gone: receipts need nobody. */
async function checkOffline(stage: Stage, { project, server, client }: Cast, batches: readonly string[]): Promise<void> {
  chapter('Every receipt, checked offline')
  await client.close()
  await server.kill()
  tell("The project server is stopped. A receipt holds the bundle, the signed results that agree, and the project's signature.")
  const files = batches.flatMap((batch) => readdirSync(stage.path(`receipts-${batch}`)).map((file) => stage.path(`receipts-${batch}`, file)))
  typed('receipt check receipts/*.receipt')
  const { stdout } = await stage.talko(['receipt', 'check', ...files, '--project', project])
  const good = stdout.split('\n').filter((line) => line.includes(': ok,')).length
  if (good !== files.length) throw new DemoError(`only ${good} of ${files.length} receipts are good`)
  tell(`${good} of ${files.length} are good.`)
  const [first] = files
  if (first === undefined) throw new DemoError('there are no receipts')
  const bytes = readFileSync(first)
  bytes[Math.floor(bytes.length / 2)] = (bytes[Math.floor(bytes.length / 2)] ?? 0) ^ 1
  writeFileSync(stage.path('forged.receipt'), bytes)
  const { exitCode } = await stage.talko(['receipt', 'check', stage.path('forged.receipt')], { allow: [2, 3, 4] })
  if (exitCode === 0) throw new DemoError('a forged receipt was believed')
  tell('One bit changed in a copy of one of them: refused.')
}

async function play(stage: Stage): Promise<void> {
  const { server, invite } = await openProject(stage)
  await publish(stage)
  const { actors, names } = await gather(stage, invite)
  const client = await connect({ home: stage.path('home'), project: invite })
  const cast = { project: client.project, server, actors, names, client }
  await until('the volunteers', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === HONEST.length + 1 || undefined)
  const primes = await countPrimes(stage, cast)
  const picture = await paint(stage, cast)
  const batches = [primes, picture]
  await judge(stage, cast, batches)
  await checkOffline(stage, cast, batches)
}

const stage = new Stage()
const began = Date.now()
try {
  await stage.play(play(stage))
  console.log(`\nPrimes from ${number(FIRST)} to ${number(LAST)}: ${number(PRIMES)}\nThe picture: ${PICTURE}`)
} catch (error) {
  over = true
  if (error instanceof Interrupted) {
    console.error(`\nThe demo was ${error.message}; cleaning up.`)
    process.exitCode = INTERRUPTED
  } else {
    for (const line of stage.lastWords()) console.error(line)
    if (!(error instanceof DemoError)) console.error(error)
    console.error(`\nThe demo failed: ${messageOf(error)}`)
    process.exitCode = 1
  }
} finally {
  await stage.clear()
  console.log(`Cleaned up; the demo took ${Math.round((Date.now() - began) / 1000)} s.`)
}
process.exit()
