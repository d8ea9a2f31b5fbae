import type { Command } from 'commander'
import type { NodeView } from '#protocol/owner/messages'
import { type Context, examples, type Verb } from '../command.ts'
import { formatBytes, formatDuration, formatTable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText(
    'after',
    examples('talko nodes', 'talko nodes -o json') +
      '\nINVALID counts results that lost against a quorum: lies, or broken hardware. ERRORS are failures of the node itself. DATA lies there for later runs.\n'
  )
  run(async (context: Context) => {
    const { io, signal } = context
    const nodes = await (await context.client()).nodes({ signal })
    if (io.json) io.outJson(nodes)
    else for (const line of nodeTable(nodes, io.nowMs)) io.out(line)
    return undefined
  })
}

export function nodeTable(nodes: readonly NodeView[], nowMs: number): string[] {
  return formatTable(
    ['NODE', 'STATE', 'BUSY', 'VALID', 'INVALID', 'ERRORS', 'LOST', 'DATA', 'SEEN', 'PLATFORM', 'ENGINES', 'ID'],
    nodes.map((node) => [
      node.name,
      node.state,
      `${node.busy}/${node.slots}`,
      String(node.valid),
      String(node.invalid),
      String(node.errors),
      String(node.lost),
      formatBytes(node.dataBytes),
      `${formatDuration(nowMs - node.lastSeenMs)} ago`,
      node.platform,
      node.engines.join(','),
      node.id
    ])
  )
}
