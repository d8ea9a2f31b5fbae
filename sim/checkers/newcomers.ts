/**
 * How much of the project's work goes to those that nothing is known of, looked at after every commit: from the records of
 * tasks and nodes alone, without slots, places and turns. Only what was given in the commit is judged, and only where nobody
 * came to be known, or not to be, within it: what happened first, a record does not say.
 */
import { nodeKey } from '#project-server/coordinator/keys'
import { decodeNodeRecord, type NodeRecord } from '#project-server/coordinator/node-records'
import type { Change } from '#project-server/ports'
import type { PeerIdString } from '#protocol/ids'
import type { Sometimes } from '../sometimes.ts'
import type { Complaints } from './complaints.ts'
import { type Given, LiveReplicas } from './live.ts'

/** What one runs at once of which nothing was ever accepted. */
const AT_FIRST = 2

export interface NewcomerLimits {
  readonly trustedAfter: number
  readonly newcomersMax: number
}

export class Newcomers {
  readonly #limits: NewcomerLimits
  readonly #complaints: Complaints
  readonly #sometimes: Sometimes
  readonly #nodes = new Map<string, NodeRecord>()
  readonly #replicas = new LiveReplicas(({ node }) => node)

  constructor(limits: NewcomerLimits, complaints: Complaints, sometimes: Sometimes) {
    this.#limits = limits
    this.#complaints = complaints
    this.#sometimes = sometimes
  }

  committed(changes: readonly Change[]): void {
    const { given, found, before } = this.#replicas.committed(changes)
    const judged = new Set<PeerIdString>()
    for (const { key, value } of changes) {
      if (value === null || !key.startsWith('node/')) continue
      const node = decodeNodeRecord(value)
      const was = this.#nodes.get(key)
      if (was !== undefined && (was.valid !== node.valid || was.invalid !== node.invalid || was.accepted !== node.accepted)) judged.add(node.id)
      this.#nodes.set(key, node)
    }
    for (const id of given) if (!found.has(id) && !judged.has(id)) this.#look(id, { before, found, judged })
  }

  #look(id: PeerIdString, { before, found, judged }: Pick<Given, 'before' | 'found'> & { readonly judged: ReadonlySet<PeerIdString> }): void {
    const node = this.#nodes.get(nodeKey(id))
    if (node === undefined || !this.#isNew(node)) return
    const runs = this.#replicas.live.get(id) ?? 0
    const own = Math.max(AT_FIRST * 2 ** node.accepted, before.get(id) ?? 0)
    this.#complaints.expect(runs <= own, () => `${id} runs ${runs} at once, and ${node.accepted} results of it were accepted in a row`)
    let [all, had] = [0, 0]
    for (const other of this.#nodes.values()) {
      if (other.offer.network !== node.offer.network || !this.#isNew(other) || judged.has(other.id)) continue
      if (found.has(other.id)) return
      all += this.#replicas.live.get(other.id) ?? 0
      had += before.get(other.id) ?? 0
    }
    const { newcomersMax } = this.#limits
    this.#sometimes.see('a newcomer was given a task')
    if (all === newcomersMax) this.#sometimes.see('the newcomers of a network had all that they may')
    this.#complaints.expect(all <= Math.max(newcomersMax, had), () => `the new nodes of ${node.offer.network} run ${all} at once, ${newcomersMax} are allowed`)
  }

  #isNew({ accepted, offer }: NodeRecord): boolean {
    return offer.network !== '' && accepted < this.#limits.trustedAfter
  }
}
