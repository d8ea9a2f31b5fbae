import type { Command } from 'commander'
import { encodeSignedReceipt } from '#protocol/result/receipt'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { readReceipt } from '../tasks/receipts.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a decided task, or a batch: a file for each of its ready tasks')
    .option('--to <path>', 'the file (of a task) or folder (of a batch); default: TASK.receipt, here')
    .option('--dry-run', 'only say which files would be written')
    .addHelpText('after', examples('talko receipt save k3vq.0', 'talko receipt save k3vq --to receipts', 'talko receipt check receipts/*.receipt'))
  run(save)
}

async function save(context: Context, [of = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const [{ mkdir, writeFile }, { join }] = await Promise.all([import('node:fs/promises'), import('node:path')])
  const client = await context.client()
  const { kind, id } = await client.resolve(of, { signal })
  if (kind === 'data') throw new ClientError('usage', `${of} is data; only decided tasks have receipts`)
  const tasks: string[] = []
  if (kind === 'task') tasks.push(id)
  else for await (const task of client.tasks(id, { signal })) if (task.status === 'ready') tasks.push(task.id)
  if (tasks.length === 0) throw new ClientError('not_found', `no task of ${of} is ready yet, so there is no receipt`)
  const to = text(options, 'to')
  const dryRun = flag(options, 'dryRun')
  if (kind === 'batch' && to !== undefined && !dryRun) await mkdir(to, { recursive: true })
  const files: string[] = []
  for (const task of tasks) {
    const name = `${task}.receipt`
    const path = to === undefined ? name : kind === 'batch' ? join(to, name) : to
    if (!dryRun) {
      const signed = await client.receipt(task, { signal })
      if (readReceipt(signed).task !== task) throw new ClientError('refused', `the project gave the receipt of another task than ${task}`)
      await writeFile(path, encodeSignedReceipt(signed), { flag: 'wx' })
    }
    files.push(path)
  }
  if (io.json) io.outJson({ dryRun, files })
  else for (const path of files) io.out(path)
}
