/**
 * From a node's frames to the coordinator's events: everything is decoded, bounded and verified here, so that the core only
 * ever sees what it may believe was said by that node. Pure.
 */

import { isTag } from '#protocol/bundle/policy'
import { isLocal, networkOf } from '#protocol/callers/network'
import { acceptCid } from '#protocol/content/cid'
import {
  type Capabilities,
  CONTROL_VERSION,
  DONE_PPM_MAX,
  type Frame,
  type Gpu,
  type Hello,
  type Holding,
  LAST_WORDS_CHARS_MAX,
  NEXT_MAX,
  PROGRESS_NOTE_CHARS_MAX,
  type ProgressOne,
  type Reports
} from '#protocol/control/messages'
import { verifyOwnership } from '#protocol/control/owner'
import { type PeerIdString, parseReplicaId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import { areGroups } from '#protocol/owner/clients'
import { verifyParked } from '#protocol/parking/messages'
import { COMMITMENT_BYTES } from '#protocol/result/commitment'
import { decodeResult, RESULT_DOMAIN, type Result } from '#protocol/result/result'
import { leavesOf, rootOf } from '#protocol/signing/batch'
import { verify } from '#protocol/signing/keys'
import type { Event, NodeOffer } from '../coordinator/events.ts'
import { MESSAGE_CHARS_MAX, NAME_CHARS_MAX } from '../policy.ts'

/** Why a frame closes its stream. `version` and `wrong_project` will not change by trying again. */
export type FrameFaultCode = 'malformed' | 'version' | 'wrong_project' | 'bad_signature'

export interface FrameFault {
  readonly code: FrameFaultCode
  readonly message: string
}

export type Inbound = { readonly event: Event; readonly heartbeat?: boolean } | { readonly fault: FrameFault }

/** The `hello` event of a stream's first frame. `address`: where it came from; `network`: of what network that is, when it is known better, or (`hidden`) that of the relay, which is all that is known; the administrator's own nodes are vouched for. */
export function helloOf(
  frame: Frame | undefined,
  node: PeerIdString,
  project: PeerIdString,
  {
    address = '',
    network = networkOf(address),
    hidden = false,
    administrator
  }: { readonly address?: string; readonly network?: string; readonly hidden?: boolean; readonly administrator?: PeerIdString | undefined } = {}
): Inbound {
  const hello = frame?.hello
  if (hello === undefined || frame === undefined || kindsOf(frame).length !== 1)
    return fault('malformed', 'the first frame of a control stream must be a hello')
  if (!hello.versions.includes(CONTROL_VERSION)) {
    const spoken = hello.versions.join(', ') || 'none'
    return fault(
      'version',
      `this project server speaks version ${CONTROL_VERSION} of the control protocol, the node speaks ${spoken}: install the newest talko`
    )
  }
  if (hello.project !== project) {
    return fault(
      'wrong_project',
      `this server leads project ${project}, the node was set up for ${clip(hello.project, NAME_CHARS_MAX)}: join again with this project's invite`
    )
  }
  const offer = offerOf(hello, { network, hidden, local: isLocal(address) })
  const owner = hello.capabilities?.owner
  if (owner !== undefined && !verifyOwnership(owner, node, project))
    return fault('bad_signature', 'the node says whose it is, and that client did not sign it for this node and project: join again with --mine')
  if (offer === undefined || hello.link.length !== 16 || hello.spare.length !== 16 || !hello.replicas.every(isReplica) || !hello.holdings.every(isHolding))
    return fault('malformed', 'a field of the hello is missing or out of bounds')
  const [link, spare] = [hello.link, hello.spare].map((id) => Buffer.from(id).toString('hex')) as [string, string]
  const { received, replicas, holdings, next = 0 } = hello
  const whose = owner === undefined ? { owner: null } : { owner: owner.client, ...(owner.client === administrator ? { vouched: true as const } : {}) }
  return { event: { kind: 'hello', node, link, spare, received, offer: { ...offer, ...whose }, replicas, holdings, next: Math.min(next, NEXT_MAX) } }
}

/** The event of any later frame; a bare ack or heartbeat is a `heartbeat`. */
export function eventOf(frame: Frame | undefined, node: PeerIdString, project: PeerIdString): Inbound {
  if (frame === undefined) return fault('malformed', 'not a frame of this protocol')
  const kinds = kindsOf(frame)
  const { seq } = frame
  if (kinds.length > 1) return fault('malformed', `a frame carries one message, this one has ${kinds.join(' and ')}`)
  const kind = kinds[0]
  const numbered = kind === 'start' || kind === 'progress' || kind === 'reports' || kind === 'returned' || kind === 'bye' || kind === 'commits'
  if (!Number.isSafeInteger(seq) || seq < 0 || !Number.isSafeInteger(frame.ack) || frame.ack < 0) return fault('malformed', 'a number is out of bounds')
  if (numbered !== seq > 0) return fault('malformed', numbered ? `${kind} must be numbered` : 'an unnumbered message has a number')
  if (frame.demand !== undefined) return { event: { kind: 'demand', node, slots: frame.demand.slots } }
  if (frame.holdings !== undefined) {
    const { got, dropped } = frame.holdings
    if (!got.every(isHolding) || !dropped.every(isRoot)) return fault('malformed', 'what a node says that it holds is malformed')
    return { event: { kind: 'holdings', node, got, dropped } }
  }
  if (frame.crashed !== undefined) {
    const { replicas } = frame.crashed
    if (!replicas.every(({ replica }) => isReplica(replica))) return fault('malformed', 'a replica in what a node logged is malformed')
    return { event: { kind: 'crashed', node, replicas: replicas.map(({ replica, log }) => ({ replica, log: clipLines(log) })) } }
  }
  if (frame.checkpoints !== undefined) {
    const replicas = frame.checkpoints.replicas
    if (!replicas.every(({ replica, root, bytes }) => isReplica(replica) && isHolding({ root, bytes }) && acceptCid(root) !== undefined))
      return fault('malformed', 'a checkpoint is malformed')
    return { event: { kind: 'checkpoints', node, replicas: replicas.map(({ replica, root, bytes, last = false }) => ({ replica, root, bytes, last })) } }
  }
  if (frame.parked !== undefined) {
    const results = frame.parked.results.flatMap(({ result: body, signature }) => {
      const verified = verifyParked({ body, signature }, project)
      return verified === undefined || verified.result.node === node ? [] : [{ ...verified, body }]
    })
    return { event: { kind: 'parked', node, results } }
  }
  if (frame.start !== undefined) {
    const replicas = frame.start.replicas
    if (!replicas.every(({ replica, epoch }) => isReplica(replica) && Number.isSafeInteger(epoch)))
      return fault('malformed', 'a replica in a start is malformed')
    return { event: { kind: 'start', node, seq, replicas } }
  }
  if (frame.progress !== undefined) {
    const replicas = frame.progress.replicas
    if (!replicas.every(({ replica }) => isReplica(replica))) return fault('malformed', 'a replica in a progress message is malformed')
    if (!replicas.every(({ donePpm = 0 }) => donePpm <= DONE_PPM_MAX)) return fault('malformed', 'a run cannot be further than at its end')
    return { event: { kind: 'progress', node, seq, replicas: replicas.map(saidOf) } }
  }
  if (frame.returned !== undefined) {
    const replicas = frame.returned.replicas
    if (!replicas.every(({ replica }) => isReplica(replica))) return fault('malformed', 'a returned replica is malformed')
    return {
      event: {
        kind: 'returned',
        node,
        seq,
        replicas: replicas.map((one) => ({
          replica: one.replica,
          class: clip(one.class, 16),
          code: clip(one.code, 64),
          message: clip(one.message, MESSAGE_CHARS_MAX)
        }))
      }
    }
  }
  if (frame.commits !== undefined) {
    const { replicas } = frame.commits
    if (!replicas.every(({ replica, digest }) => isReplica(replica) && digest.length === COMMITMENT_BYTES))
      return fault('malformed', 'a commitment is malformed')
    return {
      event: { kind: 'commits', node, seq, replicas: replicas.map(({ replica, digest }) => ({ replica, digest: Buffer.from(digest).toString('hex') })) }
    }
  }
  if (frame.bye !== undefined) return { event: { kind: 'bye', node, seq } }
  if (frame.reports !== undefined) {
    const reported = resultsOf(frame.reports, node, project)
    return 'fault' in reported ? reported : { event: { kind: 'reports', node, seq, ...reported } }
  }
  if (kind === undefined || kind === 'heartbeat') return { event: { kind: 'heartbeat', node }, heartbeat: kind === 'heartbeat' }
  return fault('malformed', `a node does not send ${kind}`)
}

/** Every result decodes, is this node's and this project's, and the node signed them all. */
function resultsOf(
  { results: bodies, signature }: Reports,
  node: PeerIdString,
  project: PeerIdString
): Pick<Extract<Event, { kind: 'reports' }>, 'results' | 'seal'> | { fault: FrameFault } {
  if (bodies.length === 0) return { results: [], seal: null }
  const leaves = leavesOf(bodies)
  if (!verify(node, RESULT_DOMAIN, rootOf(leaves), signature)) return fault('bad_signature', 'the signature of a batch of results does not match')
  const results: { result: Result; body: Uint8Array }[] = []
  for (const body of bodies) {
    const result = decodeResult(body)
    if (result === undefined) return fault('malformed', 'a result is malformed')
    if (result.node !== node) return fault('bad_signature', `a result names node ${clip(result.node, NAME_CHARS_MAX)} as its author`)
    if (result.project !== project) return fault('wrong_project', `a result is for project ${clip(result.project, NAME_CHARS_MAX)}`)
    results.push({ result, body })
  }
  return { results, seal: { leaves, signature } }
}

const KINDS = [
  'hello',
  'demand',
  'holdings',
  'crashed',
  'parked',
  'checkpoints',
  'heartbeat',
  'start',
  'progress',
  'reports',
  'returned',
  'bye',
  'commits',
  'welcome',
  'refused',
  'assign',
  'grant',
  'cancel',
  'release',
  'reveal',
  'next',
  'taken'
] as const

function kindsOf(frame: Frame): (typeof KINDS)[number][] {
  return KINDS.filter((kind) => frame[kind] !== undefined)
}

function offerOf(
  hello: Hello,
  { network, hidden, local }: { readonly network: string; readonly hidden: boolean; readonly local: boolean }
): NodeOffer | undefined {
  const capabilities = hello.capabilities
  if (capabilities === undefined) return undefined
  const { platform, engines, cpuMillis, memoryBytes, diskBytes, tags, exclusive, gpus, ownerOnly, cpu = '', groups } = capabilities
  const slots = hello.demand?.slots ?? 0
  if (![memoryBytes, diskBytes, hello.received].every((value) => Number.isSafeInteger(value) && value >= 0)) return undefined
  if (![platform, ...engines].every((word) => word.length <= NAME_CHARS_MAX)) return undefined
  if (!tags.every(isTag) || !exclusive.every((tag) => tags.includes(tag))) return undefined
  if (!areGroups(groups)) return undefined
  if (!gpus.every(isGpu) || new Set(gpus.map(({ uuid }) => uuid)).size < gpus.length) return undefined
  return {
    name: clip(hello.name, NAME_CHARS_MAX),
    agent: clip(hello.agent, NAME_CHARS_MAX),
    platform: clip(platform, NAME_CHARS_MAX),
    cpu: clip(cpu, NAME_CHARS_MAX),
    engines: engines.map((engine) => clip(engine, NAME_CHARS_MAX)),
    cpuMillis,
    ...coresIn(capabilities),
    memoryBytes,
    diskBytes,
    slots,
    tags: unlessEmpty(tags),
    exclusive: unlessEmpty(exclusive),
    gpus:
      gpus.length === 0
        ? NONE
        : gpus.map(({ uuid, model, memoryBytes: bytes, driver }) => ({ uuid, model: clip(model, GPU_CHARS_MAX), memoryBytes: bytes, driver })),
    ownerOnly,
    ...(groups.length === 0 ? {} : { groups }),
    owner: null,
    network,
    ...(hidden ? { hidden } : {}),
    ...(local || tags.includes('local') ? { local: true as const } : {})
  }
}

const GPU_CHARS_MAX = 96
/** No machine has more. */
const CORES_MAX = 65_536

function coresIn({ cores = 0 }: Capabilities): Pick<NodeOffer, 'cores'> {
  return cores > 0 && cores <= CORES_MAX ? { cores } : {}
}
const LAST_WORDS_LINE_CHARS_MAX = 400

/** One empty list for all nodes. */
function unlessEmpty(list: readonly string[]): readonly string[] {
  return list.length === 0 ? NONE : list
}

function isGpu({ uuid, model, memoryBytes, driver }: Gpu): boolean {
  return /^[!-~]{1,96}$/.test(uuid) && model.length <= GPU_CHARS_MAX && Number.isSafeInteger(memoryBytes) && memoryBytes >= 0 && /^[0-9.]{0,32}$/.test(driver)
}

function isReplica(text: string): boolean {
  return parseReplicaId(text) !== undefined
}

/** Long enough for any CID as text. */
function isRoot(text: string): boolean {
  return /^[A-Za-z0-9]{1,128}$/.test(text)
}

function isHolding({ root, bytes }: Holding): boolean {
  return isRoot(root) && Number.isSafeInteger(bytes) && bytes >= 0
}

/** Text of a peer made fit to show: bounded, on one line, without control characters. */
function saidOf({ replica, state, again = false, donePpm, note = '' }: ProgressOne): Extract<Event, { kind: 'progress' }>['replicas'][number] {
  const said = { replica, state: clip(state, 16), again }
  return donePpm === undefined ? said : { ...said, figure: { donePpm, note: clip(note, PROGRESS_NOTE_CHARS_MAX) } }
}

export function clip(text: string, charsMax: number): string {
  return text.slice(0, charsMax).replace(/[\p{Cc}\p{Cf}\p{Co}\p{Cs}\u2028\u2029]/gu, ' ')
}

/** The same of several lines: the last of them. */
function clipLines(text: string): string {
  const lines = text.slice(-LAST_WORDS_CHARS_MAX).split('\n')
  return lines.map((line) => clip(line, LAST_WORDS_LINE_CHARS_MAX)).join('\n')
}

function fault(code: FrameFaultCode, message: string): { fault: FrameFault } {
  return { fault: { code, message } }
}
