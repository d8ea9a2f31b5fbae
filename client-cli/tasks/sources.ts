/** What a task takes from others that may not be over yet, as people write it: `--dep`, `--after`. */
import type { Command } from 'commander'
import type { Source, Sources } from '#protocol/bundle/sources'
import { parseTaskId } from '#protocol/ids'
import type { Client } from '../client/client.ts'
import { splits } from '../client/resolve.ts'
import { collect, flag, texts } from '../command.ts'
import { ClientError } from '../errors.ts'

type Options = Readonly<Record<string, unknown>>

export function sourceOptions(command: Command): void {
  command
    .option('--dep <name=TASK[/path]>', 'show the output of a task at /in/<name>; it may still have to run; may repeat', collect)
    .option('--after <ID>', 'begin when this task or batch is over and ready; may repeat', collect)
    .option('--allow-failed', 'run even if a task of --dep or --after fails, with what there is')
}

/** Undefined without any. Throws ClientError `usage`, `not_found`. */
export async function readSources(client: Client, options: Options, signal: AbortSignal): Promise<Sources | undefined> {
  const list: Source[] = []
  for (const dep of texts(options, 'dep')) {
    const at = dep.indexOf('=')
    if (at < 1) throw new ClientError('usage', `--dep is name=TASK or name=TASK/path, not ${JSON.stringify(dep)}`)
    list.push({ name: dep.slice(0, at), ...(await outputOf(client, dep.slice(at + 1), signal)), from: 0, count: 0, part: 'output' })
  }
  for (const after of texts(options, 'after')) {
    const { kind, id } = await client.resolve(after, { signal })
    if (kind === 'data') throw new ClientError('usage', `--after ${after}: that is data; name a task or a batch`)
    list.push({ name: '', of: id, from: 0, count: 0, part: 'after', path: '' })
  }
  const allowFailed = flag(options, 'allowFailed')
  if (list.length === 0 && allowFailed) throw new ClientError('usage', '--allow-failed goes with --dep or --after')
  return list.length === 0 ? undefined : { allowFailed, list }
}

/** The longest beginning that means a task, and the path after it; a batch of one task stands for it. */
async function outputOf(client: Client, text: string, signal: AbortSignal): Promise<Pick<Source, 'of' | 'path'>> {
  for (const { of, path } of splits(text)) {
    try {
      const { kind, id } = await client.resolve(of, { signal })
      if (kind === 'data') throw new ClientError('usage', `--dep: ${of} is data; use -i for it`)
      return { of: parseTaskId(id) === undefined ? (await client.task(id, { signal })).id : id, path }
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'not_found') throw error
    }
  }
  throw new ClientError('not_found', `--dep: no task is known as ${JSON.stringify(text)}; see \`talko ps -a\``)
}

/** The same for each of `count` tasks. */
export function forEach(sources: Sources | undefined, count: number): ReadonlyMap<number, Sources> | undefined {
  return sources === undefined ? undefined : new Map(Array.from({ length: count }, (_, index) => [index, sources]))
}

/** Of `count` map tasks, which take what was asked for, and with `reduces` of the reduce after them, which takes what they leave and nothing else. The project stages it when the last of them is ready, whether we are here or not. */
export function ofMap(sources: Sources | undefined, { count, reduces }: { readonly count: number; readonly reduces: boolean }): ReadonlyMap<number, Sources> {
  if (sources?.list.some(({ name }) => name === 'part') === true)
    throw new ClientError('usage', '--dep part is taken: a map task finds its part of the input there')
  const gathered: Sources = { allowFailed: false, list: [{ name: 'maps', of: '', from: 0, count, part: 'all', path: '' }] }
  return new Map([...(forEach(sources, count) ?? []), ...(reduces ? [[count, gathered] as const] : [])])
}
