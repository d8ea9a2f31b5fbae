/** Connections and streams that nobody needs any more, looked at when a world has been quiet for a while. */
import type { Connection } from '@libp2p/interface'
import { CONTROL_PROTOCOL } from '#protocol/control/messages'
import { BEGAN_MS } from '../engine/process.ts'
import type { Computer } from './computer.ts'

/** What asks and answers is done within this; only control streams stay. */
const STREAM_MS_MAX = 60_000

export function* leaks(computers: readonly Computer[], nowMs: number): Generator<string> {
  for (const computer of computers) {
    const { name, station, process, connections } = computer
    const open = [...station.sockets].filter((socket) => socket.process === process).length
    if (open !== connections.length) yield `${name} has ${open} connections open, libp2p knows of ${connections.length}`
    for (const connection of connections) yield* streamsOf(computer, connection, nowMs)
  }
}

function* streamsOf({ name, process }: Computer, { remotePeer, streams }: Connection, nowMs: number): Generator<string> {
  const agesMs = (process?.nowMs() ?? 0) - STREAM_MS_MAX
  const control = streams.filter(({ protocol }) => protocol === CONTROL_PROTOCOL)
  if (control.length > 1) yield `${name} has ${control.length} control streams with ${remotePeer}`
  for (const { protocol, timeline } of streams) {
    if (protocol === CONTROL_PROTOCOL || timeline.open > agesMs) continue
    yield `${name} has had a stream of ${protocol} with ${remotePeer} open since ${timeline.open - BEGAN_MS} ms, now ${nowMs} ms`
  }
}
