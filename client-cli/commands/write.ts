import type { Command } from 'commander'
import { LIVE_WRITE_BYTES_MAX } from '#protocol/live/messages'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { executionText, readPlace, readReplica, replicaOption } from '../tasks/looking.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'the file in the output folder of a running task: ID/path')
    .argument('[text]', 'what it is to hold')
    .option('--from <file>', `take its content from this file, up to ${LIVE_WRITE_BYTES_MAX / 1024} KiB`)
    .option('--dry-run', 'say where it would be written, and write nothing')
  replicaOption(command, 'only that execution instead of all that run')
  command.addHelpText(
    'after',
    examples(
      "talko write k3vq.0/stop ''",
      "talko write k3vq.0/rate '0.01'",
      'talko write k3vq.0/settings.json --from settings.json',
      '(the file is there whole or not at all; an execution that begins later does not get it, and what differs between',
      ' executions in the output keeps them from agreeing)'
    )
  )
  run(async (context: Context, [given = '', said], options) => {
    const { io, signal } = context
    const file = text(options, 'from')
    if ((said === undefined) === (file === undefined)) throw new ClientError('usage', 'the content is either an argument or --from FILE')
    const content = file === undefined ? new TextEncoder().encode(said) : await smallFile(file)
    if (content.length > LIVE_WRITE_BYTES_MAX) throw tooLarge(content.length)
    const client = await context.client()
    const { of, path } = await readPlace(client, given, signal)
    if (path === '') throw new ClientError('usage', `the file to be written has to be named: ${given}/NAME`)
    if (flag(options, 'dryRun')) {
      const attempt = readReplica(options)
      const { id, replicas = [] } = await client.task(of, { signal })
      const running = replicas.filter((one) => one.state === 'running' && (attempt === 0 || one.attempt === attempt))
      if (io.json)
        io.outJson({ dryRun: true, task: id, path, bytes: content.length, replicas: running.map((one) => ({ attempt: one.attempt, node: one.node })) })
      else if (running.length === 0) io.say(`task ${id} does not run there now; nothing was written`)
      else for (const one of running) io.say(`would write ${content.length} bytes in ${executionText(one)}; nothing was written`)
      return undefined
    }
    const view = await client.write(of, path, content, { attempt: readReplica(options), signal })
    if (io.json) io.outJson(view)
    for (const one of view.replicas) {
      if (one.fault === '') io.say(`written in ${executionText(one)}`)
      else io.warn(`not written in ${executionText(one)}: ${one.fault}`)
    }
    return undefined
  })
}

async function smallFile(path: string): Promise<Uint8Array> {
  const { readUpTo } = await import('../live/files.ts')
  const bytes = await readUpTo(path, LIVE_WRITE_BYTES_MAX)
  if (bytes === undefined) throw tooLarge(undefined)
  return bytes
}

function tooLarge(bytes: number | undefined): ClientError {
  const many = bytes === undefined ? '' : `${bytes} bytes: `
  return new ClientError('usage', `${many}at most ${LIVE_WRITE_BYTES_MAX / 1024} KiB are written into a running task; larger data is an input (talko upload)`)
}
