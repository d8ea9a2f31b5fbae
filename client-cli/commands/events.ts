import type { Command } from 'commander'
import { EVENTS_LAST_MAX, type MoveView } from '#protocol/owner/messages'
import { parseWhole } from '../client/units.ts'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { printable, shortId } from '../output/text.ts'
import { findNodes } from '../tasks/task-options.ts'

const LAST_DEFAULT = 100

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[id]', 'a batch or a task (default: all of yours, and the nodes)')
    .option('-f, --follow', 'go on with what happens from now on')
    .option('--node <node>', 'what happened to this node (id, unique prefix, or name) and to what it runs of yours')
    .option('-n, --limit <n>', 'only the last so many', String(LAST_DEFAULT))
    .option('--after <number>', 'those after this number (as -o json shows it), in place of the last ones')
    .addHelpText('after', examples('talko events -f', 'talko events k3vq.0', 'talko events --node aino -n 20', 'talko events -f -o json'))
  run(events)
}

async function events(context: Context, [of]: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const last = parseWhole(text(options, 'limit') ?? '', '-n', 1, EVENTS_LAST_MAX)
  const from = text(options, 'after')
  const after = from === undefined ? undefined : parseWhole(from, '--after', 0, Number.MAX_SAFE_INTEGER)
  const client = await context.client()
  const named = text(options, 'node')
  const nodes = await client.nodes({ signal })
  const [node] = named === undefined ? [] : findNodes([named], nodes)
  const names = new Map(nodes.map(({ id, name }) => [id, name]))
  const parts = client.events({
    ...(of === undefined ? {} : { of }),
    ...(node === undefined ? {} : { node }),
    ...(after === undefined ? { last } : { after }),
    follow: flag(options, 'follow'),
    signal
  })
  for await (const { moves, missed } of parts) {
    if (missed > 0) io.warn(`${missed} events before the next are no longer kept`)
    for (const move of moves) {
      if (io.json) io.outJson(move)
      else io.out(moveLine(move, names))
    }
  }
  return undefined
}

/** When, what, where to, and by whom and why. */
export function moveLine({ atMs, kind, id, state, node, cause, actor, detail }: MoveView, names: ReadonlyMap<string, string>): string {
  const called = (peer: string): string => names.get(peer) || peer
  const what = kind === 'node' ? called(id) : shortId(id)
  const where = node === undefined ? '' : ` on ${called(node)}`
  const why = detail === undefined ? '' : `: ${detail}`
  return printable(
    `${new Date(atMs).toISOString()}  ${kind} ${what} ${state}${where}  (${cause}, by ${actor === undefined ? 'the coordinator' : called(actor)})${why}`
  )
}
