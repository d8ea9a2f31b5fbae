import type { Command } from 'commander'
import type { Client } from '../client/client.ts'
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
  const text = await fileOf(client, id, signal)
  io.out(rescueOf(text, graphOf(parseDag(text)), await allTasks(client, id, signal)).trimEnd())
  return undefined
}

/** The file that the batch was made of. Throws ClientError `not_found`, `usage`. */
async function fileOf(client: Client, batch: string, signal: AbortSignal): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  try {
    for await (const piece of client.read(fileNameOf(batch), { signal })) {
      size += piece.length
      if (size > 4 * DAG_CHARS_MAX) throw new ClientError('usage', `the file of batch ${batch} is too large`)
      pieces.push(piece)
    }
  } catch (error) {
    if (!(error instanceof ClientError) || error.code !== 'not_found') throw error
    throw new ClientError('not_found', `batch ${batch} was not made of a file of steps (talko dag submit); talko retry submits again what failed of it`, {
      cause: error
    })
  }
  return Buffer.concat(pieces).toString()
}
