/** The numbers of the content plane: sizes in bytes, times in milliseconds. */

/** Leaves of a file: kubo's unixfs-v1-2025 profile. */
export const LEAF_BYTES = 1024 * 1024
/** Links of one file node: the same profile. */
export const FILE_LINKS_MAX = 1024
/** A directory whose one block would be larger is sharded: the same profile. */
export const FLAT_DIRECTORY_BYTES_MAX = 256 * 1024
/** Slots of one shard of a directory: the same profile. */
export const SHARD_FANOUT = 256
/** Bytes of a 64-bit hash of a name, one for each level of shards; names that agree in all of them are made, not met. */
export const SHARD_DEPTH_MAX = 8

/** A block larger than this is neither stored, served nor accepted: what bitswap peers accept too. */
export const BLOCK_BYTES_MAX = 2 * 1024 * 1024
/** Entries of one tree; each costs a file on the disk of everybody who fetches it. */
export const TREE_ENTRIES_MAX = 2_000_000
/** Folders within folders: well below what a path of PATH_MAX (4096) allows. */
export const TREE_DEPTH_MAX = 100
/** Bytes of one path below the root of a tree, so that it fits in PATH_MAX behind the store's own folder. */
export const TREE_PATH_BYTES_MAX = 3072
/** Bytes of one name: what Linux file systems take. */
export const NAME_BYTES_MAX = 255
/** Links of one dag-cbor node (an image has tens of layers). */
export const NODE_LINKS_MAX = 10_000
/** dag-cbor nodes that link to dag-cbor nodes. */
export const NODE_DEPTH_MAX = 16

/** Bytes of blocks asked for and not yet here: 4 of 1 MiB in flight were enough on loopback, and a slow requester holds no more. */
export const WINDOW_BYTES = 4 * 1024 * 1024
/** Room in the window before more is asked for: small blocks are asked for by the hundred, not by the frame. */
export const REFILL_BYTES = 1024 * 1024
/** Blocks asked for and not yet here: 4 MiB of 2 KiB files. */
export const WINDOW_BLOCKS = 2048
/** What a directory or file node is taken to weigh in the window until it is here. */
export const NODE_BYTES_GUESS = 64 * 1024
/** Block ids in one request frame. */
export const REQUEST_IDS_MAX = 1024
/** Bytes of one request frame: one kind byte and the ids. */
export const REQUEST_FRAME_BYTES_MAX = 1 + REQUEST_IDS_MAX * 32
/** Small blocks are joined up to this size in one reply frame. */
export const REPLY_JOINED_BYTES = 128 * 1024
/** Bytes of one reply frame: kind, length and one largest block. */
export const REPLY_FRAME_BYTES_MAX = BLOCK_BYTES_MAX + REPLY_JOINED_BYTES + 1024
/** Content streams one peer may have open at once on a connection. */
export const STREAMS_PER_CONNECTION_MAX = 64
/** A provider that owes us blocks and completes no frame for this long is left for the next one: 1 MiB at 140 kbit/s. */
export const STALL_MS_MAX = 60_000
/** Rounds through the providers in one fetch, as long as each round brought new blocks. */
export const ROUNDS_MAX = 5
/** Bytes of leaves being checked and written at once, beside the window: what a killed process loses of what had arrived. */
export const SETTLING_BYTES = 4 * 1024 * 1024
/** Leaves from this size on are hashed and written beside the main thread. */
export const LARGE_BLOCK_BYTES = 128 * 1024

/** A fetch ends with `disk_full` while this much is left: the index needs some to note even that trees are removed. */
export const DISK_RESERVE_BYTES = 32 * 1024 * 1024
/** Bytes written between two looks at how much is left. */
export const DISK_CHECK_BYTES = 4 * 1024 * 1024
