/** What the verbs share that look into a task while it runs: `ID[/path]`, which execution, and where it goes on. */
import type { Command } from 'commander'
import { LIVE_LINES_MAX } from '#protocol/live/messages'
import { parseLivePath } from '#protocol/live/path'
import type { LogPlace } from '#protocol/owner/messages'
import type { Client } from '../client/client.ts'
import { text } from '../command.ts'
import { ClientError } from '../errors.ts'
import type { Io } from '../output/io.ts'
import { printable } from '../output/text.ts'

type Options = Readonly<Record<string, unknown>>

export interface Looked {
  /** Id, prefix or name of a task, or of a batch of one. */
  readonly of: string
  /** Below its output folder; '' for the folder. */
  readonly path: string
}

/** Names may hold slashes: the shortest that means something wins. Throws ClientError `usage`, `not_found`, `ambiguous`. */
export async function readPlace(client: Pick<Client, 'resolve'>, given: string, signal: AbortSignal): Promise<Looked> {
  const parts = given.replace(/\/+$/, '').split('/')
  if (parts.some((part) => part === '' || part === '.' || part === '..'))
    throw new ClientError('usage', `${given} is no task with a path below its output folder: its components are joined by /, and are not . or ..`)
  let missing: unknown
  for (let count = 1; count <= Math.min(parts.length, NAME_PARTS_MAX); count++) {
    const of = parts.slice(0, count).join('/')
    const path = parts.slice(count).join('/')
    if (parseLivePath(path) === undefined) continue
    if (count === parts.length && count === 1) return { of, path }
    try {
      const { kind, id } = await client.resolve(of, { signal })
      if (kind !== 'data') return { of, path }
      missing ??= new ClientError('usage', `${of} is uploaded data (${id}), and no task; fetch it with talko get`)
    } catch (error) {
      if (!(error instanceof ClientError) || error.code !== 'not_found') throw error
      missing ??= error
    }
  }
  throw missing ?? new ClientError('usage', `${given} is no task with a path below its output folder: that is too long, or too deep`)
}
const NAME_PARTS_MAX = 16

export function replicaOption(command: Command, what: string): void {
  command.option('--replica <n>', `${what} (talko info shows their numbers)`)
}

/** `--replica`; 0 when it is not given. */
export function readReplica(options: Options): number {
  const given = text(options, 'replica')
  if (given === undefined) return 0
  if (!/^[1-9]\d{0,5}$/.test(given)) throw new ClientError('usage', `--replica takes the number of an execution, as talko info shows it, not ${given}`)
  return Number(given)
}

/** A number of lines; undefined when it is not given. None is refused: to the server it means all. */
export function readLines(options: Options, name: string): number | undefined {
  const given = text(options, name)
  if (given === undefined) return undefined
  const lines = Number(given)
  if (!/^\d{1,9}$/.test(given) || lines < 1 || lines > LIVE_LINES_MAX)
    throw new ClientError('usage', `--${name} takes a number of lines from 1 to ${LIVE_LINES_MAX}, not ${given}`)
  return lines
}

/** Says on stderr which execution is read, and when it goes on elsewhere. */
export function placeSpeaker(io: Pick<Io, 'say' | 'warn'>): (place: LogPlace) => void {
  let last: LogPlace | undefined
  return (place) => {
    const moved = last === undefined || last.attempt !== place.attempt
    if (moved && place.attempt > 0) io.say(`${last === undefined ? 'reading' : 'going on with'} ${executionText(place)}`)
    else if (moved && last !== undefined) io.say('the task is over: going on with what the project keeps of it')
    else if (place.offset === 0 && last !== undefined) io.say('the file was cut or replaced: going on from its beginning')
    if (place.missed) io.warn('another file stands there now, and the rest of the one before is gone: some may be missing here')
    last = place
  }
}

export function executionText({ attempt, node }: { readonly attempt: number; readonly node: string }): string {
  return `execution ${attempt} on node ${printable(node)}`
}
