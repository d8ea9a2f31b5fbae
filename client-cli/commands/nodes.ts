import type { Command } from 'commander'
import type { NodeView } from '#protocol/owner/messages'
import { type Context, examples, type Verb } from '../command.ts'
import { Home } from '../live/home.ts'
import { formatBytes, formatDuration, formatTable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText(
    'after',
    examples('talko nodes', 'talko nodes -o json') +
      '\nINVALID counts results that lost against a quorum: lies, or broken hardware. ERRORS are failures of the node itself. DATA lies there for later runs.\n' +
      'BUSY and GPUS are what is taken of what there is; +1 is a task that is next there, whose data is being brought to it. Where more tasks run at once than there are cores both are told, and how many processors each had on the average. A tag that ends with ! keeps tasks away that do not ask for it (talko run --tag).\n' +
      'THERE is the part of the time, lately, that the node was there and took tasks.\n' +
      'OWNER is the client whose tasks the node takes first, and with "only" takes alone (talko node join --mine, --only-mine).\n'
  )
  run(async (context: Context) => {
    const { io, signal } = context
    const nodes = await (await context.client()).nodes({ signal })
    if (io.json) io.outJson(nodes)
    else for (const line of nodeTable(nodes, io.nowMs, (await Home.at(context.home).signer()).peerId)) io.out(line)
    return undefined
  })
}

/** `me`: the client that asks. */
export function nodeTable(nodes: readonly NodeView[], nowMs: number, me = ''): string[] {
  return formatTable(
    ['NODE', 'STATE', 'BUSY', 'VALID', 'INVALID', 'ERRORS', 'LOST', 'DATA', 'SEEN', 'THERE', 'PLATFORM', 'ENGINES', 'GPUS', 'TAGS', 'OWNER', 'GROUPS', 'ID'],
    nodes.map((node) => [
      node.name,
      node.state,
      `${node.busy}/${node.slots}${node.next === undefined ? '' : ` +${node.next}`}${crowdText(node)}`,
      String(node.valid),
      String(node.invalid),
      String(node.errors),
      String(node.lost),
      formatBytes(node.dataBytes),
      `${formatDuration(nowMs - node.lastSeenMs)} ago`,
      `${node.availability}%`,
      node.platform,
      node.engines.join(','),
      node.gpus.length === 0 ? '-' : `${node.gpus.filter(({ taken }) => taken).length}/${gpusText(node)}`,
      node.tags.join(',') || '-',
      node.owner === undefined ? '-' : `${node.owner === me ? 'you' : node.owner.slice(-8)}${node.ownerOnly ? ' only' : ''}`,
      node.groups?.join(',') ?? '-',
      node.id
    ])
  )
}

/** ` on 4 cores, 0.52 each`, where more tasks may run at once than there are cores. */
function crowdText({ slots, cores, processorsEach }: NodeView): string {
  if (cores === undefined || slots <= cores) return ''
  return ` on ${cores} ${cores === 1 ? 'core' : 'cores'}${processorsEach === undefined ? '' : `, ${processorsEach.toFixed(2)} each`}`
}

/** `2 A100 40 GiB`: models shown once. */
function gpusText({ gpus }: NodeView): string {
  const kinds = new Map<string, number>()
  for (const { model, memoryBytes } of gpus) {
    const kind = `${model} ${formatBytes(memoryBytes)}`
    kinds.set(kind, (kinds.get(kind) ?? 0) + 1)
  }
  return [...kinds].map(([kind, count]) => `${count} ${kind}`).join(', ')
}
