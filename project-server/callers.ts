/**
 * From which network a node calls, also when it calls through a relay: those at which the project has a place tell it
 * (protocol/callers), and nobody else is asked. Who comes through one that does not tell counts as of the relay's own network,
 * so that a relay hides nobody from a limit, or from a ban.
 */
import { CALLER_FRAME_BYTES_MAX, CALLERS_PROTOCOL, decodeCaller } from '#protocol/callers/messages'
import { networkOf } from '#protocol/callers/network'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { OldestFirst } from '#protocol/oldest-first'
import { isRelayed, peerIn } from '#protocol/peer/addresses'
import type { Host } from '#protocol/peer/host'
import type { Logger } from './logger.ts'
import { CALLERS_KEPT_MAX, CALLERS_LOOK_MS, CALLERS_RETRY_MS } from './policy.ts'
import type { Clock } from './ports.ts'

export interface CallersPorts {
  readonly host: Pick<Host, 'isConnected' | 'open'>
  readonly clock: Clock
  readonly logger: Logger
}

export interface WhereFrom {
  /** '' when that says nothing: the machine itself, a local network. */
  readonly network: string
  /** It is that of the relay, which does not tell more. */
  readonly hidden?: true
}

export class Callers {
  readonly #ports: CallersPorts
  readonly #relays: readonly PeerIdString[]
  readonly #networks = new OldestFirst<string, string>()
  /** Asked, and from when on they may be asked again. */
  readonly #askedMs = new Map<PeerIdString, number>()
  readonly #stopped = new AbortController()
  #cancel = (): void => undefined

  /** `relays`: multiaddrs of those that the project chose. */
  constructor(ports: CallersPorts, relays: readonly string[]) {
    this.#ports = ports
    this.#relays = relays.map(peerIn).filter((peer) => peer !== undefined)
  }

  start(): void {
    this.#look()
  }

  stop(): void {
    this.#stopped.abort(new Error('the server stops'))
    this.#cancel()
  }

  /** `address`: where the node's stream comes from. */
  whereFrom(node: PeerIdString, address: string): WhereFrom {
    if (!isRelayed(address)) return { network: networkOf(address) }
    const relayAddress = address.slice(0, address.indexOf('/p2p-circuit'))
    const relay = peerIn(relayAddress) ?? ''
    const told = this.#relays.includes(relay) ? this.#networks.get(keyOf(relay, node)) : undefined
    return told === undefined ? { network: networkOf(relayAddress), hidden: true } : { network: told }
  }

  #look(): void {
    if (this.#stopped.signal.aborted) return
    const { clock, host } = this.#ports
    const nowMs = clock.nowMs()
    for (const relay of this.#relays) {
      if (!host.isConnected(relay) || nowMs < (this.#askedMs.get(relay) ?? 0)) continue
      this.#askedMs.set(relay, Number.POSITIVE_INFINITY)
      void this.#ask(relay)
    }
    this.#cancel = clock.after(CALLERS_LOOK_MS, () => this.#look())
  }

  /** Until it tells no more. */
  async #ask(relay: PeerIdString): Promise<void> {
    const { host, clock, logger } = this.#ports
    const { signal } = this.#stopped
    let retryMs = CALLERS_LOOK_MS
    try {
      const stream = await host.open(relay, CALLERS_PROTOCOL, { frameBytesMax: CALLER_FRAME_BYTES_MAX }, signal)
      const stop = (): void => stream.abort(new Error('the server stops'))
      signal.addEventListener('abort', stop, { once: true })
      try {
        await stream.write(new Uint8Array(0))
        for await (const frame of stream.frames()) {
          const caller = decodeCaller(frame)
          if (caller === undefined) throw new Error('it says what is no caller')
          this.#note(keyOf(relay, caller.peer), caller.network)
        }
      } finally {
        signal.removeEventListener('abort', stop)
        stream.abort(new Error('it tells no more'))
      }
    } catch (error) {
      retryMs = CALLERS_RETRY_MS
      if (!signal.aborted) logger.debug({ relay, why: messageOf(error) }, 'a relay does not tell who calls through it')
    }
    this.#askedMs.set(relay, clock.nowMs() + retryMs)
  }

  #note(key: string, network: string): void {
    this.#networks.renew(key, network)
    this.#networks.keep(CALLERS_KEPT_MAX)
  }
}

function keyOf(relay: PeerIdString, caller: PeerIdString): string {
  return `${relay} ${caller}`
}
