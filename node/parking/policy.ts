/** The numbers of leaving results with others, and of keeping theirs: unit, reason, source. The agent's own are in agent/policy.ts. */

/** Bytes kept for others when the node's settings say nothing, and for how many days: a project that is away for longer is moved, or over. */
export const KEEP_BYTES = 1024 ** 3
export const KEEP_DAYS = 7
/** To reach a neighbour, the second of two relays included. */
export const PARK_CONNECT_MS_MAX = 10_000
/** One result with all that it names: a GiB at 10 Mbit/s. */
export const PARK_MS_MAX = 15 * 60_000
/** Who offers nothing for so long is hung up on. */
export const PARK_IDLE_MS = 60_000
/** Streams over which results are offered at once; one node needs one, and has another when the first is dead. */
export const PARK_STREAMS_MAX = 32
export const PARK_STREAMS_OF_PEER_MAX = 2
/** What the blocks of a tree weigh beside its bytes, about: a sixteenth, and this. */
export const PARK_SPARE_BYTES = 64 * 1024
