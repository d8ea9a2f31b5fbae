/** What happens in a project, over an owner stream of its own; after a reconnect it goes on behind the last one that came. */
import type { EventsPart } from '#protocol/owner/messages'
import type { CallOptions } from './client.ts'
import { type LogPorts, resumed } from './logs.ts'
import { eventsPart, readBody } from './views.ts'

export interface EventsOptions extends CallOptions {
  /** A batch or a task; everything of this client's, and the nodes, without it. */
  readonly of?: string
  /** Peer id of a node: what happened to it and to what it runs. */
  readonly node?: string
  /** Those after this number; without it and `last` all that are kept. */
  readonly after?: number
  /** Only the last so many. */
  readonly last?: number
  /** Go on with what happens from now on. */
  readonly follow?: boolean
}

/** A part at a time: `missed` of it are no longer kept, which happens to whoever was away for long. */
export async function* followEvents(ports: LogPorts, options: EventsOptions = {}): AsyncGenerator<EventsPart, void, undefined> {
  const { of = '', node = '', last = 0, follow = false, signal } = options
  let after = options.after ?? 0
  for await (const { body } of resumed(ports, () => ({ events: { of, node, after, limit: last, follow } }), signal)) {
    if (body === undefined) continue
    const part = readBody(body, eventsPart)
    after = part.after
    yield part
  }
}
