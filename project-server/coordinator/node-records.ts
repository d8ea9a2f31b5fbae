/** `node/<peer>`: what a node offers, and what is known of it. */
import type { PeerIdString } from '#protocol/ids'
import { CLAIMS_WHOLE_PPM } from './credit.ts'
import type { NodeOffer } from './events.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER, writeTexts } from './record-writer.ts'
import { ERROR_RATE_AT_FIRST_PPM } from './standing.ts'

export interface NodeRecord {
  readonly id: PeerIdString
  readonly offer: NodeOffer
  /** online | lost | left, as of when it was written; whether it is connected now only memory knows. */
  readonly state: 'online' | 'lost' | 'left'
  readonly lastSeenMs: number
  readonly valid: number
  readonly invalid: number
  readonly errors: number
  readonly lost: number
  /** Results in a row that others confirmed. */
  readonly row: number
  /** And results that decided their task without a second: see newcomers.ts. */
  readonly accepted: number
  /** Share of wrong results, as BOINC estimates it, in millionths. */
  readonly errorPpm: number
  /** When it first came. */
  readonly sinceMs: number
  /** In thousandths, and how its claims compare with what was granted, in millionths: credit.ts. */
  readonly credit: number
  readonly claimsPpm: number
}

type GpuRow = [uuid: string, model: string, memoryBytes: number, driver: string]

type OfferRow = [
  string,
  string,
  string,
  string[],
  number,
  number,
  number,
  number,
  string[],
  PeerIdString | null,
  string,
  exclusive: string[],
  gpus: GpuRow[],
  ownerOnly: boolean,
  cpu?: string,
  groups?: string[]
]

type Known = [row?: number, errorPpm?: number, sinceMs?: number, credit?: number, claimsPpm?: number, accepted?: number]

export function encodeNodeRecord(node: NodeRecord): Uint8Array {
  const { id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, accepted, errorPpm, sinceMs, credit, claimsPpm } = node
  const { name, agent, platform, engines, cpuMillis, memoryBytes, diskBytes, slots, tags, exclusive, gpus, ownerOnly, owner, network, cpu, groups } = offer
  WRITER.list(15)
    .int(RECORD_VERSION)
    .text(id)
    .list(groups === undefined ? 15 : 16)
    .text(name)
    .text(agent)
    .text(platform)
  writeTexts(engines)
  WRITER.int(cpuMillis).int(memoryBytes).int(diskBytes).int(slots)
  writeTexts(tags)
  if (owner === null) WRITER.nil()
  else WRITER.text(owner)
  WRITER.text(network)
  writeTexts(exclusive)
  WRITER.list(gpus.length)
  for (const { uuid, model, memoryBytes: bytes, driver } of gpus) WRITER.list(4).text(uuid).text(model).int(bytes).text(driver)
  WRITER.flag(ownerOnly).text(cpu)
  if (groups !== undefined) writeTexts(groups)
  WRITER.text(state).int(lastSeenMs).int(valid).int(invalid).int(errors).int(lost).int(row).int(errorPpm).int(sinceMs)
  return WRITER.int(credit).int(claimsPpm).int(accepted).done()
}

export function decodeNodeRecord(bytes: Uint8Array): NodeRecord {
  const [id, offered, state, lastSeenMs, valid, invalid, errors, lost, ...known] = decode<
    [PeerIdString, OfferRow, NodeRecord['state'], number, number, number, number, number, ...Known]
  >('node', bytes)
  const [row = 0, errorPpm = ERROR_RATE_AT_FIRST_PPM, sinceMs = lastSeenMs, credit = 0, claimsPpm = CLAIMS_WHOLE_PPM, accepted = row] = known
  const [name, agent, platform, engines, cpuMillis, memoryBytes, diskBytes, slots, tags, owner, network, exclusive, gpuRows, ownerOnly, cpu = '', groups] =
    offered
  const gpus = gpuRows.map(([uuid, model, bytes, driver]) => ({ uuid, model, memoryBytes: bytes, driver }))
  const offer = {
    name,
    agent,
    platform,
    engines,
    cpuMillis,
    memoryBytes,
    diskBytes,
    slots,
    tags,
    exclusive,
    gpus,
    ownerOnly,
    owner,
    network,
    cpu,
    ...(groups === undefined ? {} : { groups })
  }
  return { id, offer, state, lastSeenMs, valid, invalid, errors, lost, row, accepted, errorPpm, sinceMs, credit, claimsPpm }
}
