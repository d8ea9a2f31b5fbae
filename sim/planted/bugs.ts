/** Bugs of one line each, as somebody might write them. The simulator must find every one of them. */

export interface Bug {
  readonly name: string
  readonly file: string
  /** Occurs once in the file. */
  readonly line: string
  readonly instead: string
  /** What only real libp2p hosts can show is looked for there; without it at the protocol level. */
  readonly level?: 'stack'
  /** One that catches it and comes late among all: it is tried first. */
  readonly seed?: number
}

export const BUGS: readonly Bug[] = [
  {
    name: 'what a run left is believed after a power cut',
    file: 'node/agent/boot.ts',
    line: 'this.#before !== undefined && this.#before !== this.#now',
    instead: 'false'
  },
  {
    name: 'what is next somewhere is not let go when it is held',
    file: 'project-server/coordinator/scheduler.ts',
    line: 'if (queue === null && task.nextAt !== null)',
    instead: 'if (queue === null && count === 0 && task.nextAt !== null)'
  },
  {
    name: 'more is next at a node than may end there',
    file: 'project-server/coordinator/look-ahead.ts',
    line: 'return Math.min(next.max, policy.nextMax, going)',
    instead: 'return Math.min(next.max, policy.nextMax, going + 1)'
  },
  {
    name: 'a run that was lost is charged to nobody',
    file: 'project-server/coordinator/clients.ts',
    line: '  client.ranMs += ms\n',
    instead: '  if (replica.report !== null) client.ranMs += ms\n'
  },
  {
    name: 'a client has one replica more than it may',
    file: 'project-server/coordinator/clients.ts',
    line: 'if (parallel !== null && client.slots >= parallel) return',
    instead: 'if (parallel !== null && client.slots > parallel) return',
    seed: 33
  },
  {
    name: 'whoever claims most decides what all earn',
    file: 'project-server/coordinator/credit.ts',
    line: 'claims[(claims.length - 1) >> 1]',
    instead: 'claims[claims.length - 1]'
  },
  {
    name: 'the server speaks before its commit is on disk',
    file: 'project-server/commit.ts',
    line: 'if (all.length > 0 && !(await this.#write(all, waiters))) return',
    instead: 'if (all.length > 0) void this.#write(all, waiters)'
  },
  {
    name: 'a lease that is never begun waits for hours',
    file: 'project-server/coordinator/replicas.ts',
    line: "state === 'leased' ? silentMs : Number.POSITIVE_INFINITY",
    instead: 'Number.POSITIVE_INFINITY',
    seed: 134
  },
  {
    name: 'an owner is answered before its batch is on disk',
    file: 'project-server/commit.ts',
    line: 'const done = this.#wait()\n    this.apply(event)',
    instead: 'const done = Promise.resolve()\n    this.apply(event)'
  },
  {
    name: 'the epoch of a start is not looked at',
    file: 'project-server/coordinator/reports.ts',
    line: 'if (replica === undefined || replica.epoch !== epoch) {',
    instead: 'if (replica === undefined) {',
    seed: 14
  },
  {
    name: 'a run counts as long before anybody knows what is long',
    file: 'project-server/coordinator/stragglers.ts',
    line: 'const SAMPLES_MIN = 5',
    instead: 'const SAMPLES_MIN = 1',
    seed: 16
  },
  {
    name: 'a task goes on before the last of those that it takes something from is over',
    file: 'project-server/coordinator/sources.ts',
    line: 'if (last && --waits.missing === 0)',
    instead: 'if (last && --waits.missing <= 1)'
  },
  {
    name: 'a failed task does not fail those that need it',
    file: 'project-server/coordinator/sources.ts',
    line: 'if (fault !== null && !waits.sources.allowFailed) {',
    instead: 'if (fault !== null && waits.missing > 1 && !waits.sources.allowFailed) {',
    seed: 11
  },
  {
    name: 'a straggler is copied without end',
    file: 'project-server/coordinator/validator.ts',
    line: '- (live - copied)',
    instead: '- (live - slow * 2)',
    seed: 53
  },
  {
    name: 'a task goes to two nodes of one network where independent ones were asked for',
    file: 'project-server/coordinator/independence.ts',
    line: "if (task.batch.policy.independence === 'require') return true",
    instead: "if (task.batch.policy.independence === 'require') return false",
    seed: 78
  },
  {
    name: 'a copy on an idle node counts as an attempt',
    file: 'project-server/coordinator/outlook.ts',
    line: 'if (replica.copy) copies++',
    instead: 'if (replica.copy) copies += 0',
    seed: 315
  },
  {
    name: 'a task is copied to idle nodes although its owner said never',
    file: 'project-server/coordinator/copies.ts',
    line: "if (copies === 'never' || batch.open",
    instead: 'if (batch.open'
  },
  {
    name: 'the class of hosts is not looked at',
    file: 'project-server/coordinator/same-class.ts',
    line: 'return first !== undefined && classOf',
    instead: "return first !== undefined && sameClass === 'platform' && classOf"
  },
  {
    name: 'a result need only be close to one of a quorum, not to all',
    file: 'project-server/coordinator/agreement.ts',
    line: 'if (set.every((other) =>',
    instead: 'if (set.length === 0 || set.some((other) =>'
  },
  {
    name: 'a program that is at fault holds nothing, and is run again',
    file: 'project-server/coordinator/comparisons.ts',
    line: "if (fault?.of !== 'program') return",
    instead: "if (fault?.of !== 'program' || fault.message !== '') return",
    seed: 38
  },
  {
    name: 'what a program answered is asked again for another task',
    file: 'project-server/comparisons.ts',
    line: 'await this.#keep(by.bundle, { a, b, agree })',
    instead: 'await this.#keep(of.task, { a, b, agree })'
  },
  {
    name: 'a program compares for what is held',
    file: 'project-server/coordinator/comparisons.ts',
    line: "return task.batch.policy.compare?.kind === 'program' && isHeld(task)",
    instead: "return task.batch.policy.compare?.kind === 'program' && isHeld(task) && task.batch.open",
    seed: 38
  },
  {
    name: 'what nobody has compared counts as close',
    file: 'project-server/coordinator/comparisons.ts',
    line: '? comparison?.pairs.get(pairOf(a, b)) : false',
    instead: '? (comparison?.pairs.get(pairOf(a, b)) ?? true) : false'
  },
  {
    name: 'a believed node decides although another says otherwise',
    file: 'project-server/coordinator/validator.ts',
    line: 'votes.every((other) => other.vote === vote)',
    instead: 'votes.every((other) => other.vote !== undefined)',
    seed: 373
  },
  {
    name: 'one vote counts twice',
    file: 'project-server/coordinator/validator.ts',
    line: 'let count = 0\n    for (const other of votes) if',
    instead: 'let count = 1\n    for (const other of votes) if'
  },
  {
    name: 'a node may get a second replica of a task',
    file: 'project-server/coordinator/replicas.ts',
    line: 'if (replica.node === node && bars(replica)) return true',
    instead: "if (replica.node === node && bars(replica) && replica.state !== 'lost') return true"
  },
  {
    name: 'a lost lease is renewed after another node has its place',
    file: 'project-server/coordinator/replicas.ts',
    line: ' || task.decision !== null || task.wanted === 0 ||',
    instead: ' || task.decision !== null ||',
    seed: 114
  },
  {
    name: 'a hold lasts until somebody gives something back',
    file: 'project-server/coordinator/scheduler.ts',
    line: 'const queue = count === 0 || isHeld(task) ? null',
    instead: 'const queue = count === 0 || (isHeld(task) && !grew) ? null'
  },
  {
    name: 'what was decided by fewer than are asked for now is not run again',
    file: 'protocol/bundle/policy.ts',
    line: 'if (had.minQuorum < asked.minQuorum) return false',
    instead: ''
  },
  {
    name: 'leases that are over are repeated after a reconnect',
    file: 'project-server/coordinator/frames.ts',
    line: 'return replica !== undefined && isLive(replica.state)',
    instead: 'return replica !== undefined',
    seed: 101
  },
  {
    name: 'the server acknowledges what it has only read',
    file: 'project-server/control-service.ts',
    line: 'this.#ports.committer.apply(inbound.event)',
    instead: 'this.#ports.committer.apply(inbound.event)\n        if (frame !== undefined) link.ack(frame.seq)'
  },
  {
    name: 'nothing is repeated after a reconnect',
    file: 'project-server/coordinator/nodes.ts',
    line: 'state.out.replay(node)',
    instead: ''
  },
  {
    name: 'one message more is forgotten than was acknowledged',
    file: 'protocol/control/link.ts',
    line: 'first.seq <= upTo; first',
    instead: 'first.seq <= upTo + 1; first'
  },
  {
    name: 'a message that is missing is passed over',
    file: 'protocol/control/link.ts',
    line: "    if (seq !== this.#received + 1) return 'gap'\n",
    instead: ''
  },
  {
    name: 'what was lost at the end is not missed',
    file: 'protocol/control/sequence.ts',
    line: "    if (before !== undefined && before > this.#frames) return 'gap'\n",
    instead: ''
  },
  {
    name: 'a node speaks and starts before its commit is on disk',
    file: 'node/commit.ts',
    line: 'if (changes.length > 0) await this.#ports.store.batch(changes)',
    instead: 'if (changes.length > 0) void this.#ports.store.batch(changes).catch(() => undefined)'
  },
  {
    name: 'a node runs what it is leased without asking',
    file: 'node/agent/admission.ts',
    line: 'if (granted) run(state, lease, nowMs)',
    instead: 'if (id) run(state, lease, nowMs)'
  },
  {
    name: "a page of the node's records goes while something in it counts",
    file: 'node/pages.ts',
    line: 'first?.live === 0; first',
    instead: 'first !== undefined && first.live <= 1; first'
  },
  {
    name: 'tags are not looked at',
    file: 'project-server/coordinator/needs.ts',
    line: 'if (!tags.every((tag) => offer.tags.includes(tag))) return',
    instead: 'if (tags.length > 99) return'
  },
  {
    name: 'an exclusive tag keeps nobody away',
    file: 'project-server/coordinator/needs.ts',
    line: 'if (!offer.exclusive.every((tag) => tags.includes(tag))) return',
    instead: 'if (offer.exclusive.length > 99) return'
  },
  {
    name: 'what a banned node said still counts',
    file: 'project-server/coordinator/bans.ts',
    line: '  for (const replica of undecidedOf(state, hit)) dropVote(state, replica)\n',
    instead: ''
  },
  {
    name: 'new nodes of one network are let in one by one',
    file: 'project-server/coordinator/newcomers.ts',
    line: 'const left = Math.max(0, this.#limits.newcomersMax - (place.slots - newcomer.slots) - held)',
    instead: 'const left = Math.max(0, this.#limits.newcomersMax - held)'
  },
  {
    name: 'a silent node keeps its leases',
    file: 'project-server/coordinator/nodes.ts',
    line: 'for (const replica of [...node.held]) lose(state, replica, silence(replica, nowMs), nowMs)',
    instead: ''
  },
  {
    name: 'a node that cannot reach the server tries again at once',
    file: 'node/calling.ts',
    line: 'return Math.round((most / 2) * (1 + draw))',
    instead: 'return Math.min(most, draw, 1)'
  },
  {
    name: 'an older epoch may write',
    file: 'sim/store.ts',
    line: 'if (epoch !== this.#epoch) throw',
    instead: 'if (epoch < 0) throw'
  },
  {
    name: 'a receipt names those who said something else, too',
    file: 'project-server/coordinator/tasks.ts',
    line: "(replica) => replica.state === 'reported' && replica.verdict === 'valid')",
    instead: "(replica) => replica.state === 'reported')"
  },
  {
    name: 'an output that could not be fetched counts as held',
    file: 'project-server/coordinator/coordinator.ts',
    line: 'if (ok) finish(this.#state, task, bytes ?? task.decision.bytes, nowMs)',
    instead: 'if (ok || task) finish(this.#state, task, bytes ?? task.decision.bytes, nowMs)'
  },
  {
    name: 'a node waits for ever for a coordinator that has fallen silent',
    file: 'node/calling.ts',
    line: "if (state.unanswered >= silentBeats(state.beatMs)) return { state, act: 'hang up', waitMs: undefined }",
    instead: ''
  },
  {
    name: 'a node hangs up its stream and calls again over the same dead connection',
    file: 'node/connection.ts',
    line: 'this.#ports.host.disconnect(this.#options.project).catch(() => undefined)',
    instead: ''
  },
  {
    name: 'a page of records is believed whatever is in it',
    file: 'node/pages.ts',
    line: 'if (text.length < SUM_BYTES || text.readUInt32BE() !== crc32(text.subarray(SUM_BYTES))) throw damaged',
    instead: ''
  },
  {
    name: 'a node keeps what its last life published and did not come to say',
    file: 'node/runner.ts',
    line: 'if (began !== null && run?.ofEarlierLife === true) await',
    instead: 'if (began !== null && run?.ofEarlierLife === null) await'
  },
  {
    name: 'a node says that it keeps a result before that is on its disk',
    file: 'node/agent/safekeeping.ts',
    line: "    entry.state = 'kept'\n    this.#write(replica)\n",
    instead: "    entry.state = 'kept'\n"
  },
  {
    name: 'whoever keeps a result for another is never told to drop it',
    file: 'project-server/coordinator/remains.ts',
    line: 'keepers === undefined ? [node] : [node, ...keepers]',
    instead: '[node]'
  },
  {
    name: 'several go on from one checkpoint and are a quorum',
    file: 'project-server/coordinator/checkpoints.ts',
    line: 'if (task.replicas.some((other) => hasVoice(other) && sharesHands(state, other, [...hands, node]))) return false',
    instead: ''
  },
  {
    name: 'a checkpoint outlives its task',
    file: 'project-server/coordinator/tasks.ts',
    line: '  endCheckpoints(state, task)\n',
    instead: ''
  },
  {
    name: 'a node that crashed with its result keeps a checkpoint that nobody goes on from',
    file: 'node/runner.ts',
    line: '    this.#track(replica, this.#dropSnapshots(replica, run))\n  }\n\n  prepare',
    instead: '  }\n\n  prepare',
    seed: 236
  },
  {
    name: 'a node that was given an address does not look up where the project is now',
    file: 'node/connection.ts',
    line: 'if (!lookUp) throw missed',
    instead: 'if (!lookUp || missed !== undefined) throw missed',
    level: 'stack',
    seed: 20
  }
]
