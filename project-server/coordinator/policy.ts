/** The coordinator's numbers: unit, reason, source. Defaults of a project; a test sets others, and so may `policy` of a project.json (project-server/settings.ts). */

export interface CoordinatorPolicy {
  /** H: how often a node says that it is there (DCS: 3 s). */
  readonly heartbeatMs: number
  /** I: heartbeats missed before a node is lost (DCS: 5). */
  readonly missedMax: number
  /** After a restart every node has at least this long to come back before it counts as silent: a coordinator's absence is not the nodes' fault (F02's 60 s). */
  readonly restartGraceMs: number
  /** P: a run that takes longer than P x (mean + 2 sigma) of its batch is a straggler (DCS: 2); 0: none is. */
  readonly stragglerFactor: number
  /** K: copies of runs are made while at least so many slots are idle, those that run copies included, and by the rule `idle` so many of them at once (DCS, whose clients have one slot each: K copies when idle clients exceed the queue by K); 0: no idle node runs a copy. */
  readonly idleCopies: number
  /** Failures in a row before a node is set aside for a while, a lost node counting as one whatever it held; infinite: it never is, for wrong results neither. */
  readonly failuresMax: number
  /** Tasks of a batch that must have failed, and none succeeded, before it is held (with a tenth of all its tasks); 0: none is. Fewer prove nothing. */
  readonly failingMin: number
  /** Nodes that fell silent soon after they began to run a task before it is held; 0: none is. One or two are chance, and a fleet is not to be risked. */
  readonly deathsMax: number
  /** Results in a row that others confirmed, before a node decides tasks of adaptive batches alone (BOINC: 10). */
  readonly trustedAfter: number
  /** Local nodes take the shortest tasks first, remote ones the first that came (DCS's hybrid mode): what is short is done before a remote node is up. Means nothing without local nodes. */
  readonly hybrid: boolean
  /** Slots that nodes of one network, or of one owner, use together while too little is known of them; infinite: as many as they have. */
  readonly newcomersMax: number
  /** Tasks that are next at one node while others run there (S20), as far as the node asks for that; 0: none are, and nothing is brought ahead. */
  readonly nextMax: number
}

export const DEFAULT_COORDINATOR_POLICY: CoordinatorPolicy = {
  heartbeatMs: 3_000,
  missedMax: 5,
  restartGraceMs: 60_000,
  stragglerFactor: 2,
  idleCopies: 3,
  failuresMax: 5,
  failingMin: 10,
  deathsMax: 3,
  trustedAfter: 10,
  newcomersMax: 16,
  nextMax: 4,
  hybrid: true
}

/** Tasks of one batch: a batch's number and a task's index share one 53-bit order number, 20 bits of it for the index. */
export const BATCH_TASKS_MAX = 2 ** 20
/** Undecided tasks in memory: measured 600 bytes each, and 1 to 2 kB where a manifest is not shared; beyond it a submission is refused until some are decided. */
export const LIVE_TASKS_MAX = 500_000
/** Tasks of a sweep that wait for a node ahead of what runs; below half of it more are made. Enough for the slots that become free between two commits. */
export const SWEEP_AHEAD = 2048
/** Of a sweep that are looked up at once in what was decided before: half of those that wait, so that these can be filled up. Their manifests take some 20 us each to be made. */
export const SWEEP_LOOK_MAX = SWEEP_AHEAD / 2
/** Of all sweeps together, a quarter of what is held in memory (those that came earlier may still have more waiting); and of each, however many there are. */
export const SWEEPS_AHEAD_MAX = LIVE_TASKS_MAX / 4
export const SWEEP_AHEAD_MIN = 64
/** Pairs of a task and one that waits for it, in memory (about 50 bytes each); beyond it a submission is refused until some are over. */
export const SOURCE_LINKS_MAX = 1_000_000
/** Sources of one batch that are several of its tasks: each is looked at when any task of the batch ends. */
export const RANGES_MAX = 64
/** Tasks one after the other: a chain takes as long as its tasks together, and a longer one is a loop inside a task. */
export const SOURCE_DEPTH_MAX = 10_000
/** Different needs of tasks that are shared by those alike, about 300 bytes each; beyond it they are gathered anew. Projects have a few; who asks for another byte of memory each time must not make more. */
export const NEEDS_KEPT_MAX = 4096
/** Clients known to one project, all held in memory; a project file lists as many. */
export const CLIENTS_MAX = 1024
/** Nodes known to one project, all held in memory (about 1 kB each). */
export const NODES_MAX = 100_000
/** Slots that one node may lend, whatever it says. */
export const NODE_SLOTS_MAX = 4096

/** Last lines of crashed nodes' logs that are kept, of one node and in all: 4 KiB each, so 16 MiB of disk. The oldest go first. */
export const LAST_WORDS_OF_NODE_MAX = 8
export const LAST_WORDS_KEPT_MAX = 4096

/** Bans at once: whoever needs more should ban wider networks. */
export const BANS_MAX = 4096

/** Kinds of nodes that are told apart (kinds.ts); nodes beyond are looked at one by one. Real projects have tens; a node that names a new tag with every hello must not make more. */
export const NODE_KINDS_MAX = 1024

/** What a node did longer ago than this counts less and less for its availability: half of it after five days. BOINC's hosts forget over ten days; a volunteer's week has seven. */
export const AVAILABILITY_SPAN_MS = 7 * 86_400_000
/** Nobody is expected to be away more than this: a hundred times as long as a run takes is no estimate any more. */
export const AVAILABILITY_MIN = 0.01
/** Leases in one Assign; a node with thousands of slots gets several. */
export const ASSIGN_LEASES_MAX = 1024
/** Manifest bytes in one Assign: a quarter of the frame's bound, so that everything else fits. */
export const ASSIGN_BYTES_MAX = 1024 * 1024
/** Frames that wait for a node's acknowledgement. A node that lets more pile up is cut off and starts a new link. */
export const OUTBOX_FRAMES_MAX = 8192

/** Messages that wait in the link's own record are so many and so short; others have records of their own, so that the link's stays small. */
export const LINK_MESSAGES_MAX = 8
export const LINK_MESSAGE_REPLICAS_MAX = 32

/** Of a batch's tasks so large a part are its last: copies of their runs, and of so many runs, are all that a batch's end costs. Measured on its last 5 % (F19). */
export const TAIL_SHARE = 0.1
/** A task is copied so often in its life: a copy that yielded is a replica in its record. */
export const TASK_COPIES_MAX = 3
/** Copies on idle nodes at once in the whole project. */
export const COPIES_MAX = 1024
/** Runs of one batch that one sweep looks at for a copy, and nodes that are compared for one placement by their speed. */
export const COPY_RUNS_LOOKED_MAX = 256
export const COPY_NODES_LOOKED_MAX = 64
/** A node whose runs take so many times what others' take is slow: its runs of a batch's last tasks are copied at once. */
export const SLOW_FACTOR = 2

/** Entries of one queue that are looked at for one placement before something else is tried. */
export const LOOK_AHEAD_MAX = 64

/** Free nodes of another class, or not independent, that are looked at for one placement: there may be a hundred thousand of them. */
export const REFUSED_LOOKED_MAX = 1024

/** How long a task waits for a node that is independent of those which have it, while there is one: other tasks go on meanwhile, and a run takes longer. */
export const INDEPENDENCE_WAIT_MS = 30_000
/** Nodes remembered of a group that could take its tasks, each of another network and owner: more than any task has replicas. */
export const ABLE_REMEMBERED = 16
/** And beside each of them so many of its network or owner: as many as may fail at a task before it fails, by default. */
export const ABLE_ALIKE = 3
/** Where none was found it is looked again after this; and so many nodes are looked at in a second, some milliseconds of it. */
export const ABLE_KEPT_MS = 30_000
export const ABLE_LOOKED_MAX = 100_000
/** Trees of one bundle that its node is chosen by, the largest ones. */
export const DATA_NEEDS_MAX = 8
/** Pairs of a root and a node that holds it, of all nodes together: about 200 bytes each. Beyond it nothing more is noted until something is dropped. */
export const HOLDINGS_KNOWN_MAX = 500_000
/** Nodes with a task's data that are looked at for one placement, beginning with a drawn one; and busy ones whose end is estimated. */
export const HOLDERS_TRIED_MAX = 64
export const HOLDERS_AWAITED_MAX = 8
/** Runs of one node that are looked at for when it will have room. */
export const RUNS_AWAITED_MAX = 16
/** What a volunteer's line is taken to carry: 100 Mbit/s, in bytes per millisecond. */
export const LINE_BYTES_PER_MS = 12_500
/** Longest wait of a task for a node that has its data, however long moving it would take. Waits of a few mean run times bring nearly all runs to their data (Zaharia et al., Delay Scheduling, EuroSys 2010). */
export const HELD_BACK_MS_MAX = 60_000
/** Later tasks that may go before one because a node has their data and not its. */
export const PASSED_MAX = 16
/** Tasks that are held back for one node that became free, before it gets the next one whatever has to be moved. */
export const HELD_BACK_AT_ONCE_MAX = 8

/** A larger manifest is not sent ahead: it is sent again with its lease, and a few of these fit into one frame. */
export const NEXT_MANIFEST_BYTES_MAX = 256 * 1024
/** Nodes with too little that is next which one sweep looks at: most others are looked at when a run begins or ends there. */
export const NEXT_NODES_LOOKED_MAX = 64
/** A task that is next somewhere waits while at the most so many later ones begin where they are next, and so many more for each node with any: twice what each of them would begin if all were equally fast. */
export const NEXT_PASSED_MIN = 16
export const NEXT_PASSED_FACTOR = 2

/** Replicas that a node runs at once of which nothing is known, where its network is: one more than one, so that one that hangs does not keep it from being known. */
export const NEWCOMER_SLOTS = 2
/** Networks and owners whose free slots one sweep passes on to others of theirs: 16 nodes are filed anew for each. */
export const NEWCOMER_PLACES_ROTATED_MAX = 256
/** Who was away longer than this is new again: the machine may be another's by now. */
export const RETURNING_MS = 30 * 86_400_000
/** What a node decided alone and nobody confirmed yet: with so many its next task is checked, so that there is never more to look at again. */
export const UNCONFIRMED_MAX = 32
/** How likely a new node's result is taken to be a lie that all liars tell, where votes are weighed: a fifth, as in the published models of sabotage (Sarmenta: up to 0.35; the usual case for volunteers is far below). */
export const NEW_NODE_DOUBT_PPM = 200_000

/** A program whose memory nobody stated gets so much of what so large a share of its runs got by with: a fifth more than 95 of a hundred (S05). */
export const MEMORY_GUESS_FACTOR = 1.2
export const MEMORY_GUESS_SHARE = 0.95
/** In steps of so much: tasks that need alike wait in one line. */
export const MEMORY_GUESS_STEP_BYTES = 64 * 1024 ** 2
/** Runs of a program that are remembered, and how many there must be before something is guessed from them: the first few may be small ones. */
export const MEMORY_RUNS_KEPT = 64
export const MEMORY_RUNS_MIN = 5
/** Programs that are remembered, about 1 kB each; those that ran longest ago are forgotten first. */
export const MEMORY_PROGRAMS_MAX = 4096

/** A node that is bound to a result and does not say it within this time of being asked has failed: it need do nothing but send it. */
export const REVEAL_MS_MAX = 60_000
/** Two nodes that say the input is at fault are believed. */
export const INPUT_FAULTS_MAX = 2
/** Runs that a task gets back unharmed because an input was lost: whatever is computed again is lost again as often. */
export const INPUT_LOSSES_MAX = 6
/** A replica that is not started in this time after its lease is lost when its node does not say that its inputs move. */
export const PREPARE_MS_MAX = 6 * 3_600_000
/**
 * The same, whatever its node says. Over a line of the project's own that is too thin for its hosts all inputs take long at once: when
 * that is longer than this, all of them are lost and none arrives, so it is longer than anybody should wait.
 */
export const MOVING_MS_MAX = 24 * 3_600_000
/** How long nothing may be said of a lease that its node has room to begin, or of inputs or an output that it moves: its node gives up after ten minutes without a byte, and says so. */
export const SILENT_LEASE_MS_MAX = 660_000
/** What a run may take beyond its own time limit until its node says that it has ended; and its clock may be slow by a fiftieth. */
export const RUN_SLACK_MS = 660_000
export const CLOCKS_DIFFER_SHARE = 0.02
/** The same until its result is here, from a node that does not say that it adds a big output. */
export const REPORT_SLACK_MS = 3_600_000
/** A cancelled run's slot is free again after this even if the node says nothing: its grace of 10 s after TERM, and two more. */
export const CLOSING_MS_MAX = 12_000
/** A lease that a node does not list in its hello, although it made it durable, is lost after this: its report may be on the way. */
export const FORGOTTEN_MS = 2_000

/** Between two rounds of asking the agreeing nodes for an output. */
export const PULL_RETRY_MS = 5_000
/** Rounds in which every agreeing node failed before its output counts as lost. Disconnected nodes are waited for. */
export const PULL_ROUNDS_MAX = 3
/** How long an agreeing node that is away is waited for before its output counts as lost. */
export const PULL_WAIT_MS_MAX = 600_000
/** Nodes that keep one result for the node that it is of: it leaves it with two, and may have done so twice. */
export const KEEPERS_MAX = 4
/** Times that an agreed output is computed again because nobody could hand it over. */
export const OUTPUT_LOSSES_MAX = 2
/** Stdout and stderr may add this to the manifest's disk limit when an output is pulled. */
export const PULL_LOG_BYTES_MAX = 256 * 1024 ** 2

/** Killed tasks whose runs are waited for; the oldest are given up first. */
export const REMAINS_MAX = 65_536
/** How long after a kill what a run left may still come: its node may be away, or its own machine be starting again. */
export const REMAINS_MS_MAX = 600_000

/** Replicas outstanding when their task was decided, kept so that a late result can be judged; the oldest are forgotten first. */
export const LATE_KEPT_MAX = 65_536
/** What an early return multiplies credit by at the most. Folding@home has no such bound: it knows how long each of its tasks takes, and a project here only says its deadline. */
export const CREDIT_BONUS_MAX = 2
/** Tasks of one queue that are counted for the place of another, and nodes that are tried against one queue. */
export const WHY_AHEAD_MAX = 100_000
export const WHY_NODES_TRIED_MAX = 1_000
/** Nodes that are named for one reason; the others are counted. */
export const WHY_NODES_NAMED_MAX = 3
/** Of what a task waits for, so much is named. */
export const WHY_SOURCES_NAMED_MAX = 3
/** Clients that are named as those whose turn it is before another's. */
export const WHY_CLIENTS_NAMED_MAX = 3
/** Runs that came to nothing, the last ones, which are told with their reasons. */
export const WHY_FAULTS_NAMED_MAX = 4
/** Runs that went on from one checkpoint and came to nothing by a fault before it is not believed any more: once is chance. */
export const CHECKPOINT_TRIES_MAX = 2
/** A snapshot that comes sooner than this share of its interval is not fetched: clocks differ and lines jam, no more. */
export const CHECKPOINT_EARLY_SHARE = 1 / 2
/** Nodes looked at for one that could speak beside a run that goes on from another's work. */
export const CHECKPOINT_NODES_LOOKED_MAX = 256
/** Of replicas that were given back with a checkpoint so many do not count as issued: beyond, somebody goes on for ever. */
export const CONTINUED_MAX = 64
/** Between two figures of how far one run is; its node says one in ten seconds. */
export const FIGURE_MS_MIN = 1_000
/** What is left by such a figure is told up to a year: beyond, it says too little. */
export const FIGURE_LEFT_MS_MAX = 365 * 86_400_000
/** Answers to one `find`: more would not help anybody. */
export const FOUND_MAX = 16
/** Moves of tasks, replicas, batches and nodes that are kept for people to look at: of the last 40,000 tasks or so, about 5 MB. */
export const JOURNAL_MOVES_MAX = 250_000
/** Why something is held, kept with it. */
export const HOLD_REASON_CHARS_MAX = 200
/** Text of a node that is kept with a replica, and of a task's failure in those that waited for it. */
export const MESSAGE_CHARS_MAX = 200

/** What a client got beyond its share, or short of it, is forgotten by half in this time (HTCondor's PRIORITY_HALFLIFE): far longer than a run, so that long runs are paid back, and far shorter than a month. */
export const FAIR_HALF_LIFE_MS = 86_400_000
/** So many slot-milliseconds beyond its share weigh half a slot less than a slot: small against what a slot does in a minute, so that shares come out even soon. */
export const FAIR_SPAN_MS = 10_000

/** A task that waited so long stands before shorter ones on local nodes, too: short ones that come and come hold up nobody for ever. */
export const HYBRID_WAIT_MS_MAX = 600_000
/** Free local nodes that look for the shortest tasks when tasks come; others take what came first until the next looks. */
export const HYBRID_NODES_MAX = 64
