/** The one command `talko`. Only the verb that is asked for is loaded: help and errors come at once. */
import { Command, CommanderError } from 'commander'
import type { Client } from './client/client.ts'
import { type Context, commonOptions, text, type Verb, type VerbModule } from './command.ts'
import { ClientError, EXIT, explain } from './errors.ts'
import { Io, type IoPorts } from './output/io.ts'
import { type Clock, pause } from './ports.ts'

interface Entry {
  readonly name: string
  readonly summary: string
  readonly load?: () => Promise<VerbModule>
  readonly verbs?: readonly Entry[]
  /** It works with no project. */
  readonly alone?: boolean
}

const VERBS: readonly Entry[] = [
  { name: 'up', summary: 'start a local network: a project server and nodes on this machine', load: () => import('./commands/up.ts') },
  { name: 'down', summary: 'stop the local network', load: () => import('./commands/down.ts') },
  { name: 'init', summary: "make a project: its key and its server's folder", load: () => import('./commands/init.ts') },
  { name: 'serve', summary: "run a project's server", load: () => import('./commands/serve.ts') },
  { name: 'invite', summary: 'print what others need to find the project', load: () => import('./commands/invite.ts') },
  { name: 'use', summary: 'choose the project that the other commands talk to', load: () => import('./commands/use.ts') },
  {
    name: 'node',
    summary: 'lend this machine to a project',
    verbs: [
      { name: 'join', summary: "make a node for an invite's project", load: () => import('./commands/node-join.ts') },
      { name: 'start', summary: 'run a node', load: () => import('./commands/node-start.ts') },
      { name: 'status', summary: 'what a running node does', load: () => import('./commands/node-status.ts') },
      { name: 'doctor', summary: "what the node's network is, what works, and what to do", load: () => import('./commands/node-doctor.ts') },
      { name: 'pause', summary: 'take no more tasks until resumed', load: () => import('./commands/node-pause.ts') },
      { name: 'resume', summary: 'take tasks again', load: () => import('./commands/node-resume.ts') },
      { name: 'stop', summary: 'finish what runs, then stop the node', load: () => import('./commands/node-stop.ts') }
    ]
  },
  {
    name: 'relay',
    summary: 'help peers behind routers to reach each other',
    verbs: [
      { name: 'init', summary: 'make a relay: its key and settings', alone: true, load: () => import('./commands/relay-init.ts') },
      { name: 'start', summary: 'run a relay', alone: true, load: () => import('./commands/relay-start.ts') },
      { name: 'status', summary: 'what a running relay carries', alone: true, load: () => import('./commands/relay-status.ts') },
      { name: 'stop', summary: 'stop a relay; what it carries moves to others', alone: true, load: () => import('./commands/relay-stop.ts') }
    ]
  },
  { name: 'upload', summary: 'give the project a file or folder', load: () => import('./commands/upload.ts') },
  {
    name: 'image',
    summary: 'images that tasks run in',
    verbs: [
      { name: 'import', summary: 'give the project an image', load: () => import('./commands/image-import.ts') },
      { name: 'list', summary: 'images you imported', load: () => import('./commands/image-list.ts') }
    ]
  },
  { name: 'run', summary: 'run a command as a task', load: () => import('./commands/run.ts') },
  { name: 'map', summary: 'run a command on every part of an input, then reduce', load: () => import('./commands/map.ts') },
  { name: 'sweep', summary: 'run a command for every value, or combination of values', load: () => import('./commands/sweep.ts') },
  {
    name: 'template',
    summary: 'runs, maps and sweeps with parameters, written once',
    verbs: [{ name: 'check', summary: 'check a template and list its parameters', load: () => import('./commands/template-check.ts') }]
  },
  {
    name: 'dag',
    summary: 'graphs of steps',
    verbs: [
      { name: 'submit', summary: 'run the steps of a file, each when what it takes is there', load: () => import('./commands/dag-submit.ts') },
      { name: 'rescue', summary: 'the file that runs what did not end well', load: () => import('./commands/dag-rescue.ts') }
    ]
  },
  { name: 'ps', summary: 'batches and tasks', load: () => import('./commands/ps.ts') },
  { name: 'info', summary: 'all about a task, batch, or the project', load: () => import('./commands/info.ts') },
  { name: 'why', summary: 'what a task waits for, and when it should be done', load: () => import('./commands/why.ts') },
  { name: 'verify', summary: 'run a decided task on two nodes more and compare', load: () => import('./commands/verify.ts') },
  { name: 'events', summary: 'what happened, by whom and why', load: () => import('./commands/events.ts') },
  { name: 'logs', summary: 'what a task prints', load: () => import('./commands/logs.ts') },
  { name: 'ls', summary: "what stands in a task's output folder, while it runs too", load: () => import('./commands/ls.ts') },
  { name: 'cat', summary: "a file of a task's output, while it runs too", load: () => import('./commands/cat.ts') },
  { name: 'tail', summary: 'the last lines of a file or of what a task prints, and what comes', load: () => import('./commands/tail.ts') },
  { name: 'write', summary: 'put a small file into a running task', load: () => import('./commands/write.ts') },
  { name: 'get', summary: "fetch a task's output or uploaded data", load: () => import('./commands/get.ts') },
  { name: 'kill', summary: 'end tasks or batches', load: () => import('./commands/kill.ts') },
  { name: 'hold', summary: 'start nothing more of a task or batch until it is released', load: () => import('./commands/hold.ts') },
  { name: 'release', summary: 'let a held task or batch go on', load: () => import('./commands/release.ts') },
  { name: 'retry', summary: 'submit again what failed or was killed', load: () => import('./commands/retry.ts') },
  { name: 'label', summary: "change batches' labels", load: () => import('./commands/label.ts') },
  { name: 'nodes', summary: 'who lends machines, and how well they answer', load: () => import('./commands/nodes.ts') },
  { name: 'quota', summary: 'what you used of the project, and may use', load: () => import('./commands/quota.ts') },
  {
    name: 'owner',
    summary: 'who may submit, with what share and quotas',
    verbs: [
      { name: 'list', summary: 'clients of the project, with what they use and may use', load: () => import('./commands/quota.ts') },
      { name: 'add', summary: 'let a client submit', load: () => import('./commands/owner-add.ts') },
      { name: 'set', summary: 'change what a client may use', load: () => import('./commands/owner-set.ts') },
      { name: 'remove', summary: 'let a client submit no more', load: () => import('./commands/owner-remove.ts') }
    ]
  },
  {
    name: 'ban',
    summary: 'whom the project lets in no more',
    verbs: [
      { name: 'list', summary: 'bans with who made them and why', load: () => import('./commands/ban-list.ts') },
      { name: 'add', summary: 'ban a node, the nodes of an owner, or a network', load: () => import('./commands/ban-add.ts') },
      { name: 'remove', summary: 'let them in again', load: () => import('./commands/ban-remove.ts') }
    ]
  },
  {
    name: 'receipt',
    summary: 'signed records of what was agreed',
    verbs: [
      { name: 'show', summary: 'what a receipt says', load: () => import('./commands/receipt-show.ts') },
      { name: 'check', summary: 'check a receipt; a saved one without any network', load: () => import('./commands/receipt-check.ts') },
      { name: 'save', summary: 'write receipts to files', load: () => import('./commands/receipt-save.ts') }
    ]
  },
  {
    name: 'credit',
    summary: 'what nodes earned by validated work',
    verbs: [
      { name: 'list', summary: 'nodes or owners with most credit', load: () => import('./commands/credit-list.ts') },
      { name: 'save', summary: 'write the signed ledger of credit to a file', load: () => import('./commands/credit-save.ts') },
      { name: 'check', summary: 'add a saved ledger up and check its signatures, without any network', load: () => import('./commands/credit-check.ts') }
    ]
  },
  {
    name: 'sim',
    summary: 'try a project on simulated volunteers, by the hundred thousand',
    verbs: [
      { name: 'list', summary: 'scenarios that come with talko', alone: true, load: () => import('./commands/sim-list.ts') },
      { name: 'run', summary: 'run a scenario and report what came of it', alone: true, load: () => import('./commands/sim-run.ts') },
      { name: 'replay', summary: 'run again what a report or a failure left', alone: true, load: () => import('./commands/sim-replay.ts') },
      { name: 'compare', summary: 'run scenarios on the same seeds, side by side', alone: true, load: () => import('./commands/sim-compare.ts') },
      { name: 'sweep', summary: 'run a scenario with several values of a key', alone: true, load: () => import('./commands/sim-sweep.ts') }
    ]
  }
]

const EXIT_HELP = `
Exit status: 0 ok, 1 a task failed, 2 usage, 3 not found, 4 refused, 5 no agreement, 6 unreachable, 124 timeout.
Start here:  talko up --nodes 3  ·  talko image import alpine  ·  talko run alpine -W -- echo hello  ·  talko down`

export interface MainPorts {
  readonly io: IoPorts
  readonly clock: Clock
  /** Calls back at each Ctrl-C or TERM; on the answer false the process ends at once. What this answers stops listening. */
  readonly onInterrupt: (call: () => boolean) => () => void
  readonly version: string
}

/** Runs one command line (without `node` and the script) and answers with its exit status. Never throws. */
export async function main(argv: readonly string[], ports: MainPorts): Promise<number> {
  const io = new Io(ports.io)
  const program = new Command('talko')
    .description('Volunteers lend machines; their results are checked against each other and come back with signed receipts.')
    .version(ports.version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'show help')
    .helpCommand(false)
    .exitOverride()
    .showHelpAfterError(false)
    .configureOutput({
      writeOut: (help) => ports.io.stdout(help),
      // Only help of a group that is named alone: errors are reported below.
      writeErr: (help) => ports.io.stderr(help),
      outputError: () => {},
      getOutHelpWidth: ports.io.columns,
      getErrHelpWidth: ports.io.columns
    })
    .addHelpText('after', EXIT_HELP)
  let status: number = EXIT.ok
  const words = argv.filter((word) => !word.startsWith('-'))
  const settle = (code: number): void => {
    status = code
  }
  try {
    await addVerbs(program, VERBS, words, (command, verb) => {
      command.action(async () => {
        settle(await runVerb(verb, command, io, ports))
      })
    })
    if (argv.length === 0) {
      ports.io.stdout(program.helpInformation())
      return EXIT.usage
    }
    await program.parseAsync(argv, { from: 'user' })
    return status
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return EXIT.ok
      // The help of a group that is named alone.
      if (error.code === 'commander.help') return EXIT.usage
      io.say(`talko: ${error.message.replace(/^error: |\.$/g, '').replaceAll('\n', ' ')}; see talko ${verbIn(words, VERBS)}--help`)
      return EXIT.usage
    }
    return report(error, io)
  }
}

/** Declares all verbs by name and summary, and loads the one that the words name. */
async function addVerbs(parent: Command, entries: readonly Entry[], words: readonly string[], bind: (command: Command, verb: Verb) => void): Promise<void> {
  for (const { name, summary, load, verbs, alone } of entries) {
    const command = parent
      .command(name)
      .helpCommand(false)
      .summary(summary)
      .description(`${summary[0]?.toUpperCase()}${summary.slice(1)}.`)
    const named = words[0] === name
    if (verbs !== undefined) await addVerbs(command, verbs, named ? words.slice(1) : [], bind)
    else if (named && load !== undefined) {
      commonOptions(command, alone !== true)
      ;(await load()).define(command, (verb) => bind(command, verb))
    }
  }
}

/** The verb that the words begin with, a blank after each of its names. */
function verbIn([word, ...rest]: readonly string[], entries: readonly Entry[]): string {
  const entry = entries.find(({ name }) => name === word)
  return entry === undefined ? '' : `${entry.name} ${verbIn(rest, entry.verbs ?? [])}`
}

async function runVerb(verb: Verb, command: Command, io: Io, ports: MainPorts): Promise<number> {
  const options: Readonly<Record<string, unknown>> = command.opts()
  const format = text(options, 'output')
  if (format !== 'text' && format !== 'json') throw new ClientError('usage', `-o is text or json, not ${JSON.stringify(format)}`)
  io.json = format === 'json'
  const abort = new AbortController()
  let endsItself = false
  let again: (() => boolean) | undefined
  const stopListening = ports.onInterrupt(() => {
    if (!abort.signal.aborted) {
      abort.abort(new ClientError('interrupted', 'interrupted'))
      return true
    }
    const call = again
    again = undefined
    return call?.() ?? false
  })
  const timeout = text(options, 'timeout')
  let cancelTimeout = (): void => {}
  if (timeout !== undefined) {
    const { parseDuration } = await import('./client/units.ts')
    const ms = parseDuration(timeout, '--timeout')
    cancelTimeout = ports.clock.after(ms, () => abort.abort(new ClientError('timeout', `not done after ${timeout} (talko ps shows what was submitted)`)))
  }
  const home = text(options, 'home')
  const project = text(options, 'project')
  const clients: Promise<Client>[] = []
  const client = (dial: boolean): Promise<Client> => {
    clients[0] ??= import('./live/connect.ts').then(({ connect, offlineClient }) =>
      (dial ? connect : offlineClient)({
        ...(home === undefined ? {} : { home }),
        ...(project === undefined ? {} : { project }),
        signal: abort.signal,
        onLink: (up, why) => io.say(up ? 'connected again' : `the connection to the project is lost (${why}); trying again`)
      })
    )
    return clients[0]
  }
  const context: Context = {
    io,
    signal: abort.signal,
    pause: (ms) => pause(ports.clock, ms, abort.signal),
    endsItself: (call) => {
      endsItself = true
      again = call
    },
    home,
    project,
    client: () => client(true),
    offline: () => client(false)
  }
  try {
    const aborted = new Promise<never>((_, reject) => {
      const end = (): void => {
        if (!endsItself) reject(abort.signal.reason)
      }
      abort.signal.addEventListener('abort', end, { once: true })
    })
    return (await Promise.race([verb(context, command.args, options), aborted])) ?? EXIT.ok
  } catch (error) {
    return report(abort.signal.aborted ? abort.signal.reason : error, io)
  } finally {
    cancelTimeout()
    stopListening()
    io.progressEnd()
    for (const opened of clients) await opened.then((open) => open.close()).catch(() => {})
  }
}

function report(error: unknown, io: Io): number {
  const { exit, message, stack } = explain(error)
  io.progressEnd()
  if (exit !== EXIT.interrupted || message !== 'interrupted') io.say(`talko: ${message}`)
  if (stack !== undefined) io.say(stack)
  return exit
}
