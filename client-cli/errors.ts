/**
 * What can go wrong for a client, and what the command's exit status says about it.
 * - `usage`: what was asked makes no sense as written. `not_found`, `ambiguous`: an id, prefix, name or file.
 * - `refused`: the project, the disk or the machine does not allow it. `unreachable`: nobody answers.
 * - `task_failed`, `no_agreement`: how a task ended. `timeout`: the time given is over. `interrupted`: by the person.
 */
export type ClientErrorCode = 'usage' | 'not_found' | 'ambiguous' | 'refused' | 'no_agreement' | 'task_failed' | 'unreachable' | 'timeout' | 'interrupted'

export class ClientError extends Error {
  override readonly name = 'ClientError'
  readonly code: ClientErrorCode
  constructor(code: ClientErrorCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}

/** Exit statuses of `talko`. `bug` is sysexits' EX_SOFTWARE: an error nobody foresaw, shown with its stack. */
export const EXIT = {
  ok: 0,
  taskFailed: 1,
  usage: 2,
  notFound: 3,
  /** Of `talko sim`: something was not as it must be. */
  checkFailed: 3,
  refused: 4,
  noAgreement: 5,
  unreachable: 6,
  bug: 70,
  timeout: 124,
  interrupted: 130
} as const

const BY_CLIENT_CODE: Readonly<Record<ClientErrorCode, number>> = {
  usage: EXIT.usage,
  not_found: EXIT.notFound,
  ambiguous: EXIT.usage,
  refused: EXIT.refused,
  no_agreement: EXIT.noAgreement,
  task_failed: EXIT.taskFailed,
  unreachable: EXIT.unreachable,
  timeout: EXIT.timeout,
  interrupted: EXIT.interrupted
}

/** Codes of the other areas' errors (HostError, ContentError, OwnerErrorCode, ServerError…), by what they mean to the person who typed. */
const BY_CODE: Readonly<Record<string, number>> = {
  not_found: EXIT.notFound,
  not_a_directory: EXIT.notFound,
  no_output: EXIT.notFound,
  not_a_project: EXIT.notFound,
  not_a_node_folder: EXIT.notFound,
  not_a_relay_folder: EXIT.notFound,
  unknown_image: EXIT.notFound,
  not_an_archive: EXIT.usage,
  ENOENT: EXIT.notFound,
  ENOTDIR: EXIT.notFound,
  ambiguous: EXIT.usage,
  bad_address: EXIT.usage,
  bad_settings: EXIT.usage,
  bad_project_file: EXIT.usage,
  malformed: EXIT.usage,
  manifest_malformed: EXIT.usage,
  manifest_too_large: EXIT.usage,
  bad_scenario: EXIT.usage,
  unreachable: EXIT.unreachable,
  not_connected: EXIT.unreachable,
  dht_unavailable: EXIT.unreachable,
  unavailable: EXIT.unreachable,
  reset: EXIT.unreachable,
  closed: EXIT.unreachable
}

/** Error classes whose message is written for people; anything else is a bug. */
const KNOWN: ReadonlySet<string> = new Set([
  'ClientError',
  'HostError',
  'StreamError',
  'ContentError',
  'ManifestError',
  'ImageError',
  'RecordError',
  'ServerError',
  'StoreError',
  'NodeError',
  'RelayError',
  'ExecutorError',
  'ScenarioError'
])

/** Operating-system errors a person can do something about; others with a code of this shape are bugs like any other. */
const SYSTEM: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  ENOTDIR: 'not a folder',
  EISDIR: 'is a folder, a file is needed',
  EEXIST: 'exists already; choose another name',
  EACCES: 'permission denied; run as a user who may, or choose another folder',
  EPERM: 'not permitted; run as a user who may',
  EROFS: 'the file system is read-only; choose another folder',
  ENOSPC: 'the disk is full; free some space and try again',
  EMFILE: 'too many open files; raise the limit with `ulimit -n`',
  EADDRINUSE: 'another program listens there; choose another port'
}

/** What `talko` prints and exits with for an error. `stack` is set for a bug only. */
export function explain(error: unknown): { readonly exit: number; readonly message: string; readonly stack?: string } {
  if (!(error instanceof Error)) return { exit: EXIT.bug, message: `unexpected: ${String(error)}` }
  if (error instanceof ClientError) return { exit: BY_CLIENT_CODE[error.code], message: oneLine(error.message) }
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (KNOWN.has(error.name)) return { exit: BY_CODE[code] ?? EXIT.refused, message: oneLine(error.message) }
  const what = SYSTEM[code]
  if (what !== undefined) {
    const path = 'path' in error && typeof error.path === 'string' ? error.path : ''
    return { exit: BY_CODE[code] ?? EXIT.refused, message: path === '' ? what : `${path}: ${what}` }
  }
  return { exit: EXIT.bug, message: `a bug: ${oneLine(error.message)}`, stack: error.stack ?? error.message }
}

/** A message of several lines on one, and bounded: it may hold what a peer said. Control characters never reach the terminal. */
export function oneLine(text: string): string {
  const flat = [...text].map((char) => (char < ' ' || (char >= '\u007f' && char <= '\u009f') ? ' ' : char)).join('')
  const line = flat.replace(/ {2,}/g, ' ').trim()
  return line.length > 1000 ? `${line.slice(0, 1000)}…` : line
}
