/**
 * Which nodes a node may ask for news of the project: those that come after it on a ring. The order of the ring is the project's
 * secret, so that nobody can choose whose neighbour it is; and it changes little as nodes come and go, so that who asks again
 * and again learns of no more nodes than who asks once.
 */
import { sha256 } from '#protocol/content/cid'
import type { PeerIdString } from '#protocol/ids'

interface Place {
  readonly at: string
  readonly node: PeerIdString
}

export class Neighbours {
  readonly #secret: Uint8Array
  /** In the order of the ring. */
  readonly #ring: Place[] = []

  constructor(secret: Uint8Array) {
    this.#secret = secret
  }

  add(node: PeerIdString): void {
    const at = this.#placeOf(node)
    const index = this.#indexOf(at)
    if (this.#ring[index]?.at !== at) this.#ring.splice(index, 0, { at, node })
  }

  remove(node: PeerIdString): void {
    const at = this.#placeOf(node)
    const index = this.#indexOf(at)
    if (this.#ring[index]?.at === at) this.#ring.splice(index, 1)
  }

  /** At most `max` others that are fit, the next ones first, of at most `looked` that are looked at. */
  of(
    node: PeerIdString,
    { max, looked, isFit }: { readonly max: number; readonly looked: number; readonly isFit: (other: PeerIdString) => boolean }
  ): PeerIdString[] {
    const found: PeerIdString[] = []
    const first = this.#indexOf(this.#placeOf(node))
    for (let step = 0; step < Math.min(looked, this.#ring.length) && found.length < max; step += 1) {
      const other = this.#ring[(first + step) % this.#ring.length]?.node
      if (other !== undefined && other !== node && isFit(other)) found.push(other)
    }
    return found
  }

  #placeOf(node: PeerIdString): string {
    return Buffer.from(sha256(Buffer.concat([this.#secret, Buffer.from(node)]))).toString('hex')
  }

  /** Of the first place that is not before it. */
  #indexOf(at: string): number {
    let low = 0
    let high = this.#ring.length
    while (low < high) {
      const middle = (low + high) >> 1
      if ((this.#ring[middle]?.at ?? '') < at) low = middle + 1
      else high = middle
    }
    return low
  }
}
