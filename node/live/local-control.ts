/**
 * The node's own door: HTTP on a socket in its folder, which only its owner's account can open (N03).
 * GET /status; POST /pause, /resume, /stop?mode=finish|now, with &grace=<ms> for `finish`. All answer JSON.
 */
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { NodeError } from '../errors.ts'

const SOCKET = 'node.sock'
/** The kernel's bound on a socket's path. */
const PATH_BYTES_MAX = 107
const CONNECTIONS_MAX = 64
/** What a timer can hold is a little more. */
const GRACE_MS_MAX = 20 * 86_400_000

export interface Control {
  status(): object
  pause(): void
  resume(): void
  /** Begins to stop. After `graceMs` what has not finished is ended. */
  stop(mode: 'finish' | 'now', graceMs?: number): void
}

/** Opens the door; the answer closes it. Throws NodeError `in_use` when a node answers there already, `storage` when there can be no socket. */
export async function openLocalControl(dir: string, control: Control): Promise<() => Promise<void>> {
  const path = join(dir, SOCKET)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new NodeError('storage', `the folder's path is too long for a socket (${path}: at most ${PATH_BYTES_MAX} bytes); use a folder with a shorter path`)
  if (await answers(path)) throw new NodeError('in_use', `another node runs on ${dir}; stop it first (talko node stop), or use another folder`)
  await rm(path, { force: true })
  const server = createServer((request, response) => answer(request, response, control))
  server.maxConnections = CONNECTIONS_MAX
  server.listen(path)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new NodeError('storage', `cannot listen on ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  await chmod(path, 0o600)
  return async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await rm(path, { force: true })
  }
}

function answer(request: IncomingMessage, response: ServerResponse, control: Control): void {
  const send = (status: number, body: object): void => {
    response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(`${JSON.stringify(body)}\n`)
  }
  const url = new URL(request.url ?? '/', 'http://node')
  switch (`${request.method ?? ''} ${url.pathname}`) {
    case 'GET /status':
      send(200, control.status())
      break
    case 'POST /pause':
      control.pause()
      send(200, control.status())
      break
    case 'POST /resume':
      control.resume()
      send(200, control.status())
      break
    case 'POST /stop': {
      const mode = url.searchParams.get('mode') ?? 'finish'
      if (mode !== 'finish' && mode !== 'now') {
        send(400, { error: 'mode is finish or now' })
        break
      }
      const grace = url.searchParams.get('grace')
      const graceMs = grace === null ? undefined : /^\d{1,12}$/.test(grace) ? Number(grace) : Number.NaN
      if (graceMs !== undefined && !(graceMs <= GRACE_MS_MAX)) {
        send(400, { error: `grace is a whole number of milliseconds, at most ${GRACE_MS_MAX}` })
        break
      }
      send(202, control.status())
      control.stop(mode, graceMs)
      break
    }
    default:
      send(404, { error: 'GET /status, POST /pause, POST /resume, POST /stop?mode=finish|now[&grace=<ms>]' })
  }
}

/** True when somebody listens there: what is left of a killed node does not. */
async function answers(path: string): Promise<boolean> {
  const socket = connect(path)
  try {
    await once(socket, 'connect')
    return true
  } catch {
    return false
  } finally {
    socket.destroy()
  }
}
