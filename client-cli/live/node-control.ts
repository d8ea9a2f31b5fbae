/** Talks to a running node or relay of this machine through its socket. */
import { request } from 'node:http'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { ClientError } from '../errors.ts'
import { Home } from './home.ts'

const ANSWER_BYTES_MAX = 16 * 1024 * 1024
const ANSWER_MS_MAX = 10_000

/** The folder given, or the home's own node. */
export function nodeDir(dir: string | undefined, home: string | undefined): string {
  return dir === undefined ? join(Home.at(home).dir, 'node') : resolve(dir)
}

/** The folder given, or the home's own relay. */
export function relayDir(dir: string | undefined, home: string | undefined): string {
  return dir === undefined ? join(Home.at(home).dir, 'relay') : resolve(dir)
}

type Answer = Readonly<Record<string, unknown>>

/** Throws ClientError `unreachable` when no node runs there. */
export function askNode(dir: string, method: 'GET' | 'POST', path: string, signal?: AbortSignal): Promise<Answer> {
  return ask({ what: 'node', dir, method, path }, signal)
}

/** What a running relay says of itself. Throws ClientError `unreachable` when none runs there. */
export function relayStatus(dir: string, signal?: AbortSignal): Promise<Answer> {
  return ask({ what: 'relay', dir, method: 'GET', path: '/status' }, signal)
}

interface Question {
  readonly what: 'node' | 'relay'
  readonly dir: string
  readonly method: 'GET' | 'POST'
  readonly path: string
}

async function ask(question: Question, signal: AbortSignal | undefined): Promise<Answer> {
  const { what, dir } = question
  const { status, body } = await exchange(question, signal)
  let value: unknown
  try {
    value = JSON.parse(body)
  } catch {
    value = undefined
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new ClientError('refused', `the ${what} in ${dir} answered something this talko does not understand`)
  const fields = value as Readonly<Record<string, unknown>>
  if (status >= 400) throw new ClientError('refused', `the ${what} refused: ${typeof fields.error === 'string' ? fields.error : `status ${status}`}`)
  return fields
}

function exchange({ what, dir, method, path }: Question, signal: AbortSignal | undefined): Promise<{ readonly status: number; readonly body: string }> {
  return new Promise((resolve, reject) => {
    const failed = (cause: Error): void => {
      const unreachable = new ClientError('unreachable', `no ${what} runs in ${shown(dir)}; start it with \`talko ${what} start ${shown(dir)}\``, { cause })
      reject(signal?.aborted === true ? signal.reason : unreachable)
    }
    const asked = request(
      { socketPath: join(dir, `${what}.sock`), path, method, timeout: ANSWER_MS_MAX, ...(signal === undefined ? {} : { signal }) },
      (response) => {
        let body = ''
        response.setEncoding('utf8')
        response.on('data', (piece: string) => {
          body += piece
          if (body.length > ANSWER_BYTES_MAX) response.destroy(new Error('the answer is too long'))
        })
        response.on('end', () => resolve({ status: response.statusCode ?? 0, body }))
        response.on('error', failed)
      }
    )
    asked.on('timeout', () => asked.destroy(new Error('no answer')))
    asked.on('error', failed)
    asked.end()
  })
}

function shown(dir: string): string {
  const home = homedir()
  return dir.startsWith(`${home}/`) ? `~${dir.slice(home.length)}` : dir
}
