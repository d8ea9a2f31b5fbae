/** TCP for libp2p, over a simulated internet: the addresses are those of real TCP, and so is what dialling and closing do. */
import {
  AbortError,
  type ComponentLogger,
  type Connection,
  type CreateListenerOptions,
  type DialTransportOptions,
  type Listener,
  type ListenerEvents,
  type Transport,
  TypedEventEmitter,
  transportSymbol,
  type Upgrader
} from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import type { Wire } from '#protocol/peer/live/host'
import { type Station, Way } from './internet.ts'
import { running, type StackProcess } from './process.ts'
import { Socket } from './socket.ts'

interface Components {
  readonly logger: ComponentLogger
  readonly connectionManager: { getConnections(): Connection[] }
}

/**
 * The wire of the host that the running process makes at this station. Encrypted with Noise: TLS draws from the operating
 * system's dice. `onMade` is given a look at what libp2p holds open.
 */
export function wireOf(station: Station, onMade: (connections: () => readonly Connection[]) => void): Wire {
  return {
    transports: [
      ({ logger, connectionManager }: Components) => {
        onMade(() => connectionManager.getConnections())
        return new SimTcp(station, logger)
      }
    ],
    connectionEncrypters: [noise()]
  }
}

class SimTcp implements Transport {
  readonly [transportSymbol] = true
  readonly [Symbol.toStringTag] = 'simulated TCP'
  readonly #station: Station
  readonly #process: StackProcess
  readonly #logger: ComponentLogger

  constructor(station: Station, logger: ComponentLogger) {
    const process = running()
    if (process === undefined) throw new Error('a host must be made in a process of the world')
    this.#station = station
    this.#process = process
    this.#logger = logger
  }

  async dial(address: Multiaddr, { upgrader, ...options }: DialTransportOptions): Promise<Connection> {
    options.signal.throwIfAborted()
    const socket = await this.#connect(address, options.signal)
    try {
      return await upgrader.upgradeOutbound(socket, options)
    } catch (error) {
      socket.abort(error instanceof Error ? error : new Error(String(error)))
      throw error
    }
  }

  createListener({ upgrader }: CreateListenerOptions): SimListener {
    return new SimListener(this.#station, { process: this.#process, upgrader, logger: this.#logger })
  }

  listenFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter((address) => {
      const [ip, tcp] = address.getComponents()
      return (
        ip?.name === 'ip4' &&
        tcp?.name === 'tcp' &&
        address
          .getComponents()
          .slice(2)
          .every(({ name }) => name === 'p2p')
      )
    })
  }

  dialFilter(addresses: Multiaddr[]): Multiaddr[] {
    return this.listenFilter(addresses)
  }

  /** A round trip. No answer at all from a computer that is not there. */
  #connect(address: Multiaddr, signal: AbortSignal): Promise<Socket> {
    const station = this.#station
    const process = this.#process
    const [ip, tcp] = address.getComponents()
    return new Promise((resolve, reject) => {
      const onAbort = (): void => reject(new AbortError())
      signal.addEventListener('abort', onAbort, { once: true })
      const far = station.internet.at(ip?.value ?? '')
      if (far === undefined) return
      const path = new Way(station, far)
      const answer = (act: () => void): void => {
        far.send(path, 'down', () =>
          process.enter(() => {
            signal.removeEventListener('abort', onAbort)
            if (!signal.aborted) act()
          })
        )
      }
      station.send(path, 'up', () => {
        if (!far.up) return
        const listener = far.listeners.get(tcp?.value ?? '')
        if (listener === undefined) {
          answer(() => reject(new Error(`connect ECONNREFUSED ${address}`)))
          return
        }
        answer(() => {
          const options = { path, log: this.#logger.forComponent('talko:sim:tcp') }
          const here = new Socket({ ...options, station, process, side: 'up', remoteAddr: address })
          const there = new Socket({ ...options, station: far, process: listener.process, side: 'down', remoteAddr: addressOf(station, station.freePort) })
          Socket.join(here, there)
          if (far.listeners.get(tcp?.value ?? '') === listener) listener.accept(there)
          else there.break({ tell: true })
          resolve(here)
        })
      })
    })
  }
}

interface ListenerPorts {
  readonly process: StackProcess
  readonly upgrader: Upgrader
  readonly logger: ComponentLogger
}

export class SimListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly process: StackProcess
  readonly #station: Station
  readonly #upgrader: Upgrader
  readonly #shutdown = new AbortController()
  #port = ''

  constructor(station: Station, { process, upgrader }: ListenerPorts) {
    super()
    this.process = process
    this.#station = station
    this.#upgrader = upgrader
  }

  async listen(address: Multiaddr): Promise<void> {
    const [ip, tcp] = address.getComponents()
    const port = tcp?.value ?? ''
    if (ip?.value !== this.#station.ip) throw new Error(`listen EADDRNOTAVAIL ${address}`)
    if (this.#station.listeners.has(port)) throw new Error(`listen EADDRINUSE ${ip.value}:${port}`)
    this.#port = port
    this.#station.listeners.set(port, this)
    this.safeDispatchEvent('listening')
  }

  /** The kernels have connected. */
  accept(socket: Socket): void {
    this.process.enter(() => {
      this.#upgrader.upgradeInbound(socket, { signal: this.#shutdown.signal }).catch((error: Error) => socket.abort(error))
    })
  }

  getAddrs(): Multiaddr[] {
    return this.#port === '' ? [] : [addressOf(this.#station, this.#port)]
  }

  updateAnnounceAddrs(): void {}

  async close(): Promise<void> {
    if (this.#station.listeners.get(this.#port) === this) this.#station.listeners.delete(this.#port)
    this.#shutdown.abort(new Error('the listener is closed'))
    this.safeDispatchEvent('close')
  }
}

function addressOf({ ip }: Station, port: number | string): Multiaddr {
  return multiaddr(`/ip4/${ip}/tcp/${port}`)
}
