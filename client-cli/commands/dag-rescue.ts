import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { DAG_CHARS_MAX, parseDag } from '../dag/file.ts'
import { graphOf, rescueOf } from '../dag/graph.ts'
import { ClientError } from '../errors.ts'
import { allTasks } from '../tasks/waiting.ts'
import { fileNameOf } from './dag-submit.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[id]', 'the batch of a graph of steps')
    .addHelpText(
      'after',
      examples('talko dag rescue k3vq > rest.yaml; talko dag submit rest.yaml', 'What is ready is taken by the ids of what came out of it, and not run again.')
    )
  run(rescue)
}

async function rescue(context: Context, [of]: readonly string[]): Promise<undefined> {
  const { io, signal } = context
  if (of === undefined) throw new ClientError('usage', 'which batch? like: talko dag rescue k3vq')
  const client = await context.client()
  const { kind, id } = await client.resolve(of, { signal })
  if (kind !== 'batch') throw new ClientError('usage', `${of} is no batch`)
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of client.read(fileNameOf(id), { signal })) {
    size += piece.length
    if (size > 4 * DAG_CHARS_MAX) throw new ClientError('usage', `the file of batch ${id} is too large`)
    pieces.push(piece)
  }
  const text = Buffer.concat(pieces).toString()
  io.out(rescueOf(text, graphOf(parseDag(text)), await allTasks(client, id, signal)).trimEnd())
  return undefined
}
