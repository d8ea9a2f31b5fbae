/** A host that keeps records of the DHT for others, and does nothing else; new hosts begin with the first of them. */
import type { DhtOptions } from '#protocol/peer/live/dht'
import { Computer, type ComputerPorts } from './computer.ts'
import type { Station } from './internet.ts'

export class Keeper extends Computer {
  readonly #bootstrap: DhtOptions['bootstrap']

  constructor(ports: ComputerPorts, station: Station, bootstrap: DhtOptions['bootstrap']) {
    super(ports, station)
    this.#bootstrap = bootstrap
  }

  protected override async live(): Promise<void> {
    const dht = { bootstrap: this.#bootstrap.filter((address) => !address.endsWith(this.signer.peerId)), serve: true, allowPrivate: false }
    await this.makeHost({ role: 'server', listen: [listenAt(this.station)], dht })
  }

  protected override async close(): Promise<void> {}
}

const PORT = 4600

export function listenAt({ ip }: Station): string {
  return `/ip4/${ip}/tcp/${PORT}`
}
