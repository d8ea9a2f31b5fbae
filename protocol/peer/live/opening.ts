/**
 * Streams that are being opened. The library counts a stream of a protocol only when the other side has agreed to it: of forty
 * asked for at once the other side would see forty, and take those above its limit for an attack.
 */
import type { Connection } from '@libp2p/interface'

export class Opening {
  readonly #counts = new WeakMap<Connection, Map<string, number>>()

  /** Answers with what to call when the stream is open or has failed; undefined when `max` of this protocol are open or being opened. */
  begin(connection: Connection, protocol: string, max: number): (() => void) | undefined {
    const counts = this.#counts.get(connection) ?? new Map<string, number>()
    this.#counts.set(connection, counts)
    const opening = counts.get(protocol) ?? 0
    const open = connection.streams.filter((stream) => stream.protocol === protocol && stream.direction === 'outbound').length
    if (open + opening >= max) return undefined
    counts.set(protocol, opening + 1)
    return () => {
      const left = (counts.get(protocol) ?? 1) - 1
      if (left === 0) counts.delete(protocol)
      else counts.set(protocol, left)
    }
  }
}
