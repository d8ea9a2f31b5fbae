/** The numbers of hints between nodes: unit, reason, source. */

/** Streams over which hints come and go at once, each with another node. */
export const HINT_PEERS_MAX = 16
/** Neighbours that a node without its project keeps a stream to: two may be without it, too. */
export const HINT_DIALS = 3
/** A node is without its project for so long before it asks others: longer than a restart of the project on the same address takes. */
export const STRANDED_MS = 3_000
/** One neighbour is dialled no more often than this. */
export const REDIAL_MS = 30_000
/** A node that is back keeps the streams that it opened for so long: others may be without the project still. */
export const LINGER_MS = 60_000
/** Frames of one peer in a minute, and as many at once; who says more is hung up on. What a stream begins with is far below. */
export const FRAMES_PER_MINUTE = 240
/** Peers whose frames are counted; they are forgotten when they have said nothing for a while. */
export const SPEAKERS_MAX = 256
/** New hints of the project in a minute, whoever brings them: what is beyond is dropped. */
export const HINTS_PER_MINUTE = 120
/** Hints kept for those who come, and to know them again: what the project may say in the life of a hint is more, and then the oldest are taken for known. */
export const HINTS_KEPT_MAX = 128
/** Frames that wait for one reader: twice what a stream begins with, a MiB. */
export const UNSENT_MAX = 2 * (HINTS_KEPT_MAX + 1)
/** Between two looks. */
export const HINTS_TICK_MS = 1_000
/** To reach a neighbour, the second of two relays included. */
export const HINT_CONNECT_MS_MAX = 10_000
