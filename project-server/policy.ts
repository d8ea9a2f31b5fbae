/** The numbers of the server's shell: unit, and the reason where it is not plain. */

import type { Rate } from '#protocol/token-bucket'

/** The slow sweep: half a second after a limit is passed is soon enough, the schedule itself is by event. */
export const TICK_MS = 500

/** A peer that opened a control stream and says nothing. */
export const HELLO_MS_MAX = 10_000
/** Control streams at once on one connection: the present one, a new one that is about to replace it, and two that are being refused. */
export const CONTROL_STREAMS_MAX = 4
/** Waiting for a slow node before its stream is dropped; what was numbered is replayed when it comes back. */
export const OUTBOX_BYTES_MAX = 64 * 1024 * 1024
export const OUTBOX_FRAMES_MAX = 16_384
/** A refused node may try again after this, when trying again can help. */
export const REFUSED_RETRY_MS = 5_000
/** A refused peer has this long to read why before its stream is reset. */
export const REFUSED_MS_MAX = 5_000
/** Text in a hello or a returned replica. */
export const NAME_CHARS_MAX = 128
export const MESSAGE_CHARS_MAX = 1024

/** Events applied and not yet on disk before the readers of streams are held back. */
export const EVENTS_WAITING_MAX = 20_000
/** How long changes that nobody waits for may wait for company: far less than a heartbeat. */
export const LAZY_MS = 20
/** Between attempts to commit while the disk is full. */
export const RETRY_FIRST_MS = 250
export const RETRY_MS_MAX = 10_000

/** Hellos of one node: each is a commit and says everything again. One that comes back after a break says one, and seldom. */
export const HELLOS: Rate = { perSecond: 1, burst: 30 }
/** Frames of one node: a busy one with 64 slots of 100 ms sends some hundreds a second, since what it has to say travels together. */
export const FRAMES: Rate = { perSecond: 2_000, burst: 8_000 }
/** What a heartbeat counts among them: each is answered, and one in some seconds is asked for. */
export const HEARTBEAT_FRAMES = 16
/** What a result that is told for another counts, in frames: its signature is checked alone. */
export const PARKED_COST = 20
/** What one client asks, over all its streams: a request is 1, and its answers count by their bytes. */
export const REQUESTS: Rate = { perSecond: 500, burst: 1_000 }
/** What a request of somebody who is no owner counts among them. */
export const STRANGER_REQUESTS = 100
/** Bytes of its requests, which are submissions above all: 100,000 small tasks at once, and then so many that they take a tenth of the server. */
export const REQUEST_BYTES: Rate = { perSecond: 4 * 1024 ** 2, burst: 64 * 1024 ** 2 }
/** Bytes of its answers that do: rows cost more than they weigh. */
export const ANSWER_BYTES = 1024
/** Longest that a stream is not read because of it; then its next request is taken, and waits in its turn. */
export const HELD_BACK_MS_MAX = 5_000
/** Owner streams of one client, over all its connections: more are ended. Programs of one owner share a key, and have one each. */
export const CLIENT_STREAMS_MAX = 64
/** Submissions of one client that are being looked at or written. */
export const CLIENT_SUBMISSIONS_MAX = 32

/** Owner streams at once on one connection. */
export const OWNER_STREAMS_MAX = 8
/** Those who follow events, too. */
export const EVENTS_MS = 100
/** Watchers are told at most ten times a second. */
export const WATCH_MS = 100
/** Named data of one project, all held in memory. */
export const NAMED_DATA_MAX = 100_000
export const DATA_NAME_CHARS_MAX = 256
/** A tree pulled from a client. */
export const PULL_BYTES_MAX = 2 ** 46

/** Bytes of a log in one answer. */
export const LOG_PIECE_BYTES_MAX = 64 * 1024
/** Running tasks that one client reads, lists and follows at once; and how many of them on one node, so that several clients share it. */
export const LIVE_READS_MAX = 32
export const LIVE_READS_ON_NODE_MAX = 12
/** Live streams to one node: fewer than it takes on one connection. */
export const LIVE_NODE_STREAMS_MAX = 48
/** How often one client begins to: each costs the node a stream, and some opened files. */
export const LIVE_OPENS: Rate = { perSecond: 20, burst: 100 }
/** One that has too much open is told so after this: who asks again at once costs others little. */
export const LIVE_REFUSED_MS = 1_000
/** Bytes of logs and files that one client takes, and that one node gives: a home's line has other uses. */
export const LIVE_BYTES: Rate = { perSecond: 8 * 1024 ** 2, burst: 64 * 1024 ** 2 }
export const LIVE_NODE_BYTES: Rate = { perSecond: 4 * 1024 ** 2, burst: 64 * 1024 ** 2 }
/** What was last read of a followed file, for all who follow it. Who is further behind reads it again from the node, this much at a time. */
export const FEED_BYTES = 1024 * 1024
export const CATCH_UP_BYTES = 256 * 1024
/** A node that says nothing for so long, where it has something to say, is given up. */
export const LIVE_ANSWER_MS_MAX = 30_000
/** For a listing, a small file written, or a part of one that is caught up with, in all. */
export const LIVE_WHOLE_MS_MAX = 60_000
/** What a frame of a node costs of its bytes at least: empty ones are work, too. */
export const LIVE_FRAME_COST_BYTES = 1024

/** Attempts in a row to follow a running log that bring not a byte, and the pause between them. */
export const LOG_ATTEMPTS_MAX = 20
export const LOG_RETRY_MS = 500

/** Tasks whose bundles are completed at once with what others left; and after one that could not be, for want of disk. */
export const COMPLETIONS_MAX = 16
/** Lost outputs that are computed again for one task. */
export const AGAIN_MAX = 64
export const COMPLETION_RETRY_MS = 5_000

/** Outputs fetched at once from nodes. */
export const PULLS_MAX = 16
/** Snapshots of runs fetched at once from nodes. */
export const CHECKPOINTS_AT_ONCE = 16
/** Files that an answer about a difference names; those of them that are looked into for a reason, and how large they may be. */
export const DIFFERENCES_MAX = 1000
export const HINTS_MAX = 8
export const HINTS_FILE_BYTES_MAX = 64 * 1024 ** 2
/** Tasks whose outputs are fetched and compared at once: each may hold as many outputs as it has results. */
export const COMPARISONS_MAX = 4
/** Beside those, tasks whose outputs programs of their owners compare at once: each takes up to 2 GiB of the project's memory (protocol/compare/policy.ts). */
export const COMPARATORS_MAX = 2
/** What programs answered about two outputs, about 200 bytes each. */
export const KNOWN_PAIRS_MAX = 16_384
/** Of what a comparator that is at fault wrote to stderr; the reason of a hold is short. */
export const COMPARATOR_SAID_CHARS_MAX = 80
/** Outputs that are kept for tasks which wait for further results to compare them with; beyond it they are dropped, and fetched again when they are needed. */
export const COMPARED_BYTES_KEPT_MAX = 64 * 1024 ** 3
/** A transfer that brings nothing for so long is given up. */
export const PULL_SILENCE_MS_MAX = 60_000

/** Trees about which one node asks: each task that fetches something asks once, for all it lacks. */
export const ASKS: Rate = { perSecond: 200, burst: 2_000 }
export const SOURCE_STREAMS_MAX = 32
/** Nodes whose addresses are remembered. */
export const SOURCE_PLACES_MAX = 100_000
/** Nodes named for one tree: two are used, others are for those that cannot be reached. */
export const SOURCES_PER_ROOT = 4
/** Holders of one tree that are looked at for them: ten thousand that said no address would hold up everybody. */
export const SOURCES_LOOKED_MAX = 64
/** Nodes that come next on the ring and are looked at for a node's neighbours: most are there. */
export const NEIGHBOURS_LOOKED_MAX = 64
/** What the project signs of nothing, for a secret of its own that outlives restarts. */
export const NEIGHBOURS_DOMAIN = 'talko-neighbours-1'
/** What happens within so long becomes one hint for each node that is away and each kind; of so many nodes at once, and so many hints in a second: each is signed and sent to a few. */
export const HINT_GATHER_MS = 200
export const HINT_NODES_MAX = 1_024
export const HINTS_PER_SECOND = 100
/** Peers that call through relays and whose networks are known: about 150 bytes each. */
export const CALLERS_KEPT_MAX = 100_000
/** Between looks whether a relay is there that could be asked who calls: a place at it takes longer than a look. And after one did not tell. */
export const CALLERS_LOOK_MS = 250
export const CALLERS_RETRY_MS = 5_000
/** To hand one to a node that is here. */
export const HINT_SEND_MS_MAX = 5_000

/** A node whose connection was cut in the middle of a transfer, by a relay for one, has so long to be back; it calls again after at most five seconds. */
export const BACK_MS_MAX = 15_000
export const BACK_LOOK_MS = 100

/** The record in the DHT is believed for a day, and is put there again long before. */
export const RECORD_VALID_MS = 86_400_000
export const RECORD_REFRESH_MS = 600_000
/** Between looks whether the addresses have changed: a relay that died is out of the record soon. */
export const RECORD_LOOK_MS = 2_000
/** After a failed attempt to publish it. */
export const RECORD_RETRY_MS = 15_000
/** Of larger trees it is the project's word whose turn it is to fetch them: a smaller one is there before anybody asks again. */
export const TURN_BYTES_MIN = 16 * 1024 ** 2
/** Fewer nodes than these are no crowd: some copies more from the project are there sooner than over the lines of volunteers. */
export const TURN_NODES_MIN = 8
/** Nodes that fetch one tree from the project at once while others wait for it, and from one node that has it. */
export const TURNS_AT_PROJECT = 2
export const TURNS_AT_NODE = 2
/** A turn lasts as long as this takes, of what two share of a volunteer's line; and so long at least. */
export const TURN_BYTES_PER_SECOND = 1024 ** 2
export const TURN_MS_MIN = 30_000
/** Trees of which turns are remembered. */
export const TURN_TREES_MAX = 1_024
/** Who waits asks again after one to three seconds. */
export const TURN_AGAIN_MS = 1_000
export const TURN_AGAIN_DRAWN_MS = 2_000
