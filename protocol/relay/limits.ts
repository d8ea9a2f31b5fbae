/** What a relay gives away at most: all of it finite, each a setting of its owner. */

export interface RelayLimits {
  /** Peers that can be called through the relay at once. */
  readonly reservationsMax: number
  /** Of them, those of one network (an IPv4 address, or an IPv6 /64): a home, an office, a provider's NAT. */
  readonly reservationsPerNetworkMax: number
  /** How long a reservation lasts before it must be renewed. */
  readonly reservationMs: number
  /** Connections carried at once, in all and for each peer at either end. */
  readonly circuitsMax: number
  readonly circuitsPerPeerMax: number
  /** Of them, those that one peer calls for: a project is called by a thousand nodes, and none of them takes the others' places. Each may cost two windows of memory. */
  readonly callsPerPeerMax: number
  /** Of one connection: bytes both ways together, and time. Whoever needs more connects again. */
  readonly circuitBytesMax: number
  readonly circuitMsMax: number
  /** Bytes carried in an hour, for each peer at either end and in all. */
  readonly peerBytesPerHour: number
  readonly bytesPerHour: number
}

const GIB = 1024 ** 3

/** A small rented machine: 100 GiB an hour are a quarter of a Gbit/s. A volunteer's control stream takes some MiB an hour. */
export const DEFAULT_RELAY_LIMITS: RelayLimits = {
  reservationsMax: 4_096,
  reservationsPerNetworkMax: 256,
  reservationMs: 3_600_000,
  circuitsMax: 4_096,
  circuitsPerPeerMax: 1_024,
  callsPerPeerMax: 64,
  circuitBytesMax: 4 * GIB,
  circuitMsMax: 4 * 3_600_000,
  peerBytesPerHour: 32 * GIB,
  bytesPerHour: 100 * GIB
}

/**
 * The least that makes sense: a reservation is renewed some minutes before it ends; and of the blocks of a MiB that a project
 * fetches at once over one connection some must be whole before it ends, or it would begin with the same ones for ever.
 */
const LEAST: Readonly<Partial<Record<keyof RelayLimits, number>>> = { reservationMs: 600_000, circuitMsMax: 1_000, circuitBytesMax: 16 * 1024 ** 2 }

/** What is wrong with limits from a file, for a person; undefined when nothing is. */
export function limitsFault(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '`limits` is a map of limits'
  const known = Object.keys(DEFAULT_RELAY_LIMITS)
  for (const [name, number] of Object.entries(value)) {
    if (!known.includes(name)) return `\`limits\`: there is no limit ${JSON.stringify(name)}; there are ${known.join(', ')}`
    const least = LEAST[name as keyof RelayLimits] ?? 0
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least) return `\`limits\`: ${name} is a whole number of at least ${least}`
  }
  return undefined
}
