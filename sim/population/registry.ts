/** Records of nodes that a coordinator is loaded with, when more will come than it takes in as new ones. */
import { CLAIMS_WHOLE_PPM } from '#project-server/coordinator/credit'
import type { NodeOffer } from '#project-server/coordinator/events'
import { nodeKey } from '#project-server/coordinator/keys'
import { encodeNodeRecord } from '#project-server/coordinator/node-records'
import { NODES_MAX } from '#project-server/coordinator/policy'
import { ERROR_RATE_AT_FIRST_PPM } from '#project-server/coordinator/standing'
import type { Store } from '#project-server/ports'

/** Whether so many nodes must be known beforehand. */
export function needsRegistry(nodes: number): boolean {
  return nodes > NODES_MAX
}

const OFFER: NodeOffer = {
  name: '',
  agent: '',
  platform: '',
  cpu: '',
  engines: [],
  cpuMillis: 0,
  memoryBytes: 0,
  diskBytes: 0,
  slots: 0,
  tags: [],
  exclusive: [],
  gpus: [],
  ownerOnly: false,
  owner: null,
  network: ''
}

/** As if each of them had been there once and left. */
export function registryOf(ids: readonly string[]): Pick<Store, 'get' | 'range'> {
  const record = (id: string): Uint8Array =>
    encodeNodeRecord({
      id,
      offer: OFFER,
      state: 'left',
      lastSeenMs: 0,
      valid: 0,
      invalid: 0,
      errors: 0,
      lost: 0,
      row: 0,
      accepted: 0,
      errorPpm: ERROR_RATE_AT_FIRST_PPM,
      credit: 0,
      claimsPpm: CLAIMS_WHOLE_PPM,
      sinceMs: 0
    })
  return {
    get: async () => undefined,
    async *range(from) {
      if (from === nodeKey('')) for (const id of ids) yield [nodeKey(id), record(id)] as const
    }
  }
}
