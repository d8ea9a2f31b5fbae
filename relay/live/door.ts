/** The relay's own door: HTTP on a socket in its folder, which only its owner's account can open. GET /status answers JSON. */
import { once } from 'node:events'
import { chmod, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { RelayError } from '../errors.ts'

const SOCKET = 'relay.sock'
/** The kernel's bound on a socket's path. */
const PATH_BYTES_MAX = 107
const CONNECTIONS_MAX = 64

/** Throws RelayError `in_use` when a relay answers there already, `storage` when there can be no socket. */
export async function checkDoor(dir: string): Promise<void> {
  const path = join(dir, SOCKET)
  if (Buffer.byteLength(path) > PATH_BYTES_MAX)
    throw new RelayError('storage', `the folder's path is too long for a socket (${path}: at most ${PATH_BYTES_MAX} bytes); use a folder with a shorter path`)
  if (await answers(path)) throw new RelayError('in_use', `another relay runs on ${dir}; stop it first (talko relay stop), or use another folder`)
}

/** Opens the door; the answer closes it. Throws as `checkDoor` does. */
export async function openDoor(dir: string, status: () => object): Promise<() => Promise<void>> {
  await checkDoor(dir)
  const path = join(dir, SOCKET)
  await rm(path, { force: true })
  const server = createServer((request, response) => {
    const known = request.method === 'GET' && request.url === '/status'
    const body = known ? status() : { error: 'GET /status' }
    response.writeHead(known ? 200 : 404, { 'content-type': 'application/json', connection: 'close' }).end(`${JSON.stringify(body)}\n`)
  })
  server.maxConnections = CONNECTIONS_MAX
  server.listen(path)
  try {
    await once(server, 'listening')
  } catch (cause) {
    throw new RelayError('storage', `cannot listen on ${path}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause })
  }
  await chmod(path, 0o600)
  return async () => {
    server.closeAllConnections()
    await new Promise<void>((resolve) => server.close(() => resolve()))
    await rm(path, { force: true })
  }
}

/** True when somebody listens there: what is left of a killed relay does not. */
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
