/** The agent's numbers: unit, reason, source. */

/** Replicas held at once, whatever their phase; as many as a hello can name (FRAME_ITEMS_MAX). Near it the node asks for nothing more. */
export const REPLICAS_HELD_MAX = 4096

/** Items in one outgoing frame: a report has at most 5 KiB (result, path), so 512 of them stay well under FRAME_BYTES_MAX. */
export const ITEMS_PER_FRAME = 512

/** What may wait for the coordinator's word: far more than everything that REPLICAS_HELD_MAX replicas can have to say. */
export const OUTBOX_FRAMES_MAX = 16_384
export const OUTBOX_BYTES_MAX = 64 * 1024 * 1024

/** From TERM to KILL when the coordinator ends a replica (CodaLab's 10 s), and when the volunteer wants the machine back. */
export const KILL_GRACE_MS = 10_000
export const QUIT_GRACE_MS = 3_000
/** The same for a copy whose slot a task waits for: it is to begin within two seconds (F04). */
export const YIELD_GRACE_MS = 1_000

/** How long a run that has ended waits for the project to take its last snapshot, as long as an input or an output may not move (F12); and that of a node that is to stop now. */
export const SAVE_MS_MAX = 600_000
export const SAVE_QUIT_MS_MAX = 12_000

/** How long a phase lasts before people are told of it. Shorter ones would only double the traffic. */
export const PROGRESS_AFTER_MS = 1_000
/** How often it is said again of one in which something moves: the coordinator waits for eleven minutes. */
export const PROGRESS_AGAIN_MS = 60_000

/** How often at most it is said how far a run is. */
export const FIGURE_AGAIN_MS = 10_000

/** How long a drained node waits for its last results to be taken and released. What is left is kept on disk and served after the next start. */
export const DRAIN_RELEASE_MS = 30_000
/** How long it waits for its good-bye to be acknowledged. */
export const BYE_MS = 2_000

/** A stream that lasted so long has carried what was said at its beginning: far longer than a round trip, and than it takes to find a stream dead. */
export const CRASH_TOLD_MS = 30_000

/** Characters of a fault's message on the wire. */
export const FAULT_MESSAGE_MAX = 400
export const FAULT_CODE_MAX = 64

/** Trees kept for later runs; as many as a hello may name. */
export const STOCK_TREES_MAX = 1024
/** How old the record of a tree's last use may be: the order of eviction after a crash may be wrong by that much, and runs on data that is here write nothing about it. */
export const STOCK_TOUCH_MS = 60_000

/** A node is without its project for so long before it leaves its results with others: restarts and broken lines are over by then. */
export const PARK_AFTER_MS = 60_000
/** Others that have each of them: either may leave, too. */
export const PARK_COPIES = 2
/** Offers at once, each to another node. */
export const PARKING_AT_ONCE = 4
/** Who had no room is asked again after this, and who could not be reached after that. */
export const PARK_AGAIN_MS = 600_000
export const PARK_MISSED_MS = 60_000
/** How long a node that was asked to leave, or to stop now, goes on leaving results with others when it has nothing else to do. */
export const PARK_LEAVE_MS = 120_000
export const PARK_QUIT_MS = 10_000

/** Results kept for others, and what each counts for beside the bytes that it names: its record, and the folders of its trees. */
export const KEPT_ENTRIES_MAX = 1_024
export const KEPT_ENTRY_BYTES = 16 * 1024
/** Of them, those that are being fetched. */
export const KEPT_COLLECTING_MAX = 8
/** What one node may have of the room for others, or those of one network together. */
export const KEPT_SHARE = 1 / 4
