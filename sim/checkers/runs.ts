/** Runs on volunteers' machines: which began, by what right, and what they left. */

import { CID } from 'multiformats/cid'
import { decodeReplica } from '#node/agent/records'
import type { Ended } from '#node/ports'
import { EMPTY_DIRECTORY, EMPTY_FILE } from '#protocol/content/content'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import { parseReplicaId } from '#protocol/ids'
import { voteOf } from '#protocol/result/result'
import { idOf, type Outcome } from '../protocol/truth.ts'
import type { Sometimes } from '../sometimes.ts'
import type { MemoryStore } from '../store.ts'
import { peekTask } from '../stored-tasks.ts'
import type { Complaints } from './complaints.ts'

const NO_TREE = CID.parse(EMPTY_DIRECTORY)
const NO_FILE = CID.parse(EMPTY_FILE)

export class Runs {
  readonly #records: MemoryStore
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #started = new Map<ReplicaId, PeerIdString>()
  readonly #votes = new Map<string, Set<string>>()

  constructor(records: MemoryStore, complaints: Complaints, sometimes: Sometimes) {
    this.#records = records
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  /** [7, 14] Once, by the node that it is leased to, granted on the server's disk, and said so on its own. */
  started(node: PeerIdString, replica: ReplicaId, own: Uint8Array | undefined): void {
    const { task = '', attempt = 0 } = parseReplicaId(replica) ?? {}
    const leased = peekTask(this.#records, task)?.replicas[attempt - 1]
    const before = this.#started.get(replica)
    this.#complaints.expect(before === undefined, () => `${replica} was started by ${before}, and again by ${node}`)
    this.#complaints.expect(
      leased?.node === node && leased.granted,
      () => `${replica} was started by ${node}, which has no right to on the server's disk: ${JSON.stringify(leased)}`
    )
    const mine = own === undefined ? undefined : decodeReplica(replica, own)
    const phase = mine?.phase ?? 'not there'
    // [F24] It goes on from what its record says, or from nothing.
    const from = mine?.phase === 'running' ? mine.lease.checkpoint?.root : leased?.from?.root
    this.#complaints.expect(from === leased?.from?.root, () => `${replica} goes on from ${from}, and was leased to go on from ${leased?.from?.root}`)
    this.#complaints.expect(phase === 'running' || phase === 'killing', () => `${replica} was started while on its node's disk it is ${phase}`)
    this.#started.set(replica, node)
  }

  ended(node: PeerIdString, replica: ReplicaId, { reason, exitCode }: Ended, outcome: Outcome): void {
    for (const compareStdout of [true, false]) this.claimed(node, replica, voteFor({ ...outcome, exitCode }, reason, compareStdout))
    this.#sometimes.see(`run ended by ${reason}`)
  }

  claimed(node: PeerIdString, replica: ReplicaId, vote: string): void {
    const key = `${node} ${replica}`
    const votes = this.#votes.get(key) ?? new Set()
    this.#votes.set(key, votes.add(vote))
  }

  said(node: PeerIdString, replica: ReplicaId, vote: string): boolean {
    return this.#votes.get(`${node} ${replica}`)?.has(vote) === true
  }
}

/** The vote that such a run is. */
export function voteFor({ out, stdout, exitCode }: Outcome, reason: Ended['reason'], compareStdout: boolean): string {
  const result = { reason, exitCode, output: out === '' ? NO_TREE : idOf(out), stdout: stdout === '' ? NO_FILE : idOf(stdout) }
  return voteOf({ ...NOTHING, ...result }, compareStdout)
}

/** What a vote does not depend on. */
const NOTHING = {
  v: 1,
  project: '',
  replica: '',
  bundle: NO_FILE,
  node: '',
  stderr: NO_FILE,
  bytes: 0,
  startedAtMs: 0,
  endedAtMs: 0,
  cpuMs: 0,
  memoryPeakBytes: 0
} as const
