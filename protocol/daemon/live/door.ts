/** The own door of a daemon, a node's or a relay's: HTTP on a socket in its folder, which only its owner's account can open (N03). Answers are JSON. */
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer, type RequestListener, type ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { messageOf } from '../../message-of.ts'

/** The kernel's bound on a socket's path. */
const PATH_BYTES_MAX = 107
const CONNECTIONS_MAX = 64

export interface Door {
  readonly what: 'node' | 'relay'
  readonly dir: string
  /** Name of the socket in the folder. */
  readonly socket: string
  /** What the daemon throws. */
  readonly Failure: new (
    code: 'in_use' | 'storage',
    message: string,
    options?: ErrorOptions
  ) => Error
}

/** Throws `in_use` when a daemon answers there already, `storage` when there can be no socket. */
export async function checkDoor({ what, dir, socket, Failure }: Door): Promise<void> {
  const path = join(dir, socket)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new Failure('storage', `the folder's path is too long for a socket (${path}: at most ${PATH_BYTES_MAX} bytes); use a folder with a shorter path`)
  if (await answers(path)) throw new Failure('in_use', `another ${what} runs on ${dir}; stop it first (talko ${what} stop), or use another folder`)
}

/** Opens the door; the answer closes it. Throws as `checkDoor` does. */
export async function openDoor(door: Door, listener: RequestListener): Promise<() => Promise<void>> {
  await checkDoor(door)
  const path = join(door.dir, door.socket)
  await rm(path, { force: true })
  const server = createServer(listener)
  server.maxConnections = CONNECTIONS_MAX
  server.listen(path)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new door.Failure('storage', `cannot listen on ${path}: ${messageOf(cause)}`, { cause })
  }
  await chmod(path, 0o600)
  return async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await rm(path, { force: true })
  }
}

export function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', connection: 'close' }).end(`${JSON.stringify(body)}\n`)
}

/** True when somebody listens there: what is left of a killed daemon does not. */
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
