/**
 * The node's own door: HTTP on a socket in its folder, which only its owner's account can open (N03).
 * GET /status; POST /pause[?mode=now], /resume, /stop?mode=finish|now, with &grace=<ms> for `finish`. All answer JSON.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { answer, openDoor } from '#protocol/daemon/live/door'
import { NodeError } from '../errors.ts'

/** What a timer can hold is a little more. */
const GRACE_MS_MAX = 20 * 86_400_000

export interface Control {
  status(): object
  /** \`now\`: what runs is ended, too. */
  pause(now: boolean): void
  resume(): void
  /** Begins to stop. After `graceMs` what has not finished is ended. */
  stop(mode: 'finish' | 'now', graceMs?: number): void
}

/** Opens the door; the answer closes it. Throws NodeError `in_use` when a node answers there already, `storage` when there can be no socket. */
export function openLocalControl(dir: string, control: Control): Promise<() => Promise<void>> {
  return openDoor({ what: 'node', dir, socket: 'node.sock', Failure: NodeError }, (request, response) => serve(request, response, control))
}

function serve(request: IncomingMessage, response: ServerResponse, control: Control): void {
  const send = (status: number, body: object): void => answer(response, status, body)
  const url = new URL(request.url ?? '/', 'http://node')
  switch (`${request.method ?? ''} ${url.pathname}`) {
    case 'GET /status':
      send(200, control.status())
      break
    case 'POST /pause':
      control.pause(url.searchParams.get('mode') === 'now')
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
