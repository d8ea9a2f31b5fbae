/** The node's numbers: unit, reason, source. The agent's own are in agent/policy.ts. */

/** First and longest wait between attempts to reach the coordinator. The longest is well under the 15 s after which a restarted coordinator gives up a silent node (H = 3 s, I = 5). */
export const RECONNECT_FIRST_MS = 200
export const RECONNECT_MS_MAX = 5_000
/** All who hear news of the project call within so long, scattered. */
export const NEWS_MS_MAX = 2_000
/** How long one attempt may take, from dialling to the welcome. */
export const WELCOME_MS_MAX = 10_000
/** Heartbeats without an answer after which the coordinator counts as out of reach: one less than it waits for a node (I = 5), so that the node is back before its leases are lost. */
export const SILENT_BEATS_MAX = 4
/** However fast the heart beats, a busy machine gets this long. */
export const SILENT_MS_MIN = 5_000
/** Bounds on the heartbeat interval a coordinator may ask for, and its value until it does (DCS's H). */
export const HEARTBEAT_MS = 3_000
export const HEARTBEAT_MS_MIN = 100
export const HEARTBEAT_MS_MAX = 60_000
/** The agent's own rhythm. */
export const TICK_MS = 1_000
/** After how many ticks an engine that works is asked whether it still does, and one that does not whether it does again. */
export const PROBE_TICKS = 15
export const PROBE_DOWN_TICKS = 2
/** Trees of one replica fetched at once. */
export const FETCHES_AT_ONCE = 4
/** How often a fetch that fails while the coordinator is there is tried, and the wait between. */
export const FETCH_TRIES_MAX = 5
export const FETCH_RETRY_MS = 500
/** How often a content store without room is tried again for what an earlier life left. */
export const FULL_RETRY_MS = 5_000
/** Of so many calls that fail in a row the last one asks in the local network too. */
export const LAN_EVERY = 4
/** Of other nodes that have a tree, so many are asked. */
export const PEERS_PER_ROOT = 2
/** While others fetch it first the project is asked again after this at most, and for so long in all: well within the time in which something of an input must have come. */
export const TURN_ASK_MS_MAX = 10_000
export const TURN_WAIT_MS_MAX = 300_000
/** For the project to say who they are, and for one of them to be reached, the second of two relays included. */
export const ASK_MS_MAX = 10_000
export const PEER_CONNECT_MS_MAX = 10_000
/** A node with a public address waits so long to be called back instead of fetching through the relay. */
export const DIRECT_MS_MAX = 1_500
export const DIRECT_LOOK_MS = 50
/** Connections to other nodes are kept so long after the last fetch. */
export const PEER_IDLE_MS = 30_000
/** Streams over which other nodes are served at once. */
export const GUESTS_MAX = 16
/** Of them, those of one other node, and how long one may pass without a byte: a frame of a MiB on a slow line. */
export const GUEST_STREAMS_MAX = 8
export const GUEST_IDLE_MS = 120_000
/** Bytes a second for other nodes when the node's settings say nothing: a volunteer's line has 50 Mbit/s up and something else to do. */
export const UPLOAD_PER_SECOND = 2 * 1024 ** 2
/** Other nodes shown in the status. */
export const PEERS_SHOWN_MAX = 32
/** Between looks whether this node's addresses have changed, and after which they are told again. */
export const TELL_LOOK_MS = 2_000
export const TELL_AGAIN_MS = 300_000
/** How long nothing of an input may come, with the coordinator there, before the replica is given back (F12). */
export const FETCH_SILENCE_MS_MAX = 600_000
/** An engine that makes an image ready does not say how far it is: for so many ticks, half an hour, it is believed to move on (F12). */
export const BELIEVED_TICKS = 1_800
/** After so many ticks it is read for the first time how far a run is, and again each time after so many more. */
export const FIGURE_FIRST_TICKS = 2
export const FIGURE_TICKS = 10
/** How long an engine may take to start what is prepared (F12). */
export const START_MS_MAX = 60_000
/** Content an input may have when nothing else bounds it. */
export const INPUT_BYTES_MAX = 2 ** 42
/** Entries of a hostile output tree. */
export const OUTPUT_ENTRIES_MAX = 1_000_000
/** Logs up to this size are kept as one block in the store, in memory: many tasks print the same few lines, and a block needs no file. */
export const LOG_BLOCK_BYTES_MAX = 4 * 1024
/** Events applied and not yet durable before reading from the coordinator waits. */
export const EVENTS_WAITING_MAX = 4_096
/** Logs read at once over one connection. */
export const LIVE_STREAMS_MAX = 64
/** Longest wait for a drained or quitting node to be done before it closes anyway: the agent's own limits, and then some. */
export const STOP_MS_MAX = 20_000
/** Inputs and outputs kept on disk for later runs, in bytes, when the node's settings say nothing. */
export const STOCK_BYTES = 32 * 1024 ** 3
