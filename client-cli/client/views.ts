/** The bodies of a coordinator's answers, checked before anyone uses them: a project may be hostile to its client, too. */
import * as dagCbor from '@ipld/dag-cbor'
import type { SignedPage } from '#protocol/credit/ledger'
import { isBatchId, parseTaskId } from '#protocol/ids'
import type { BanAnswer, BanView } from '#protocol/owner/bans'
import { type ClientView, clientSettingsFault, DEFAULT_CLIENT_SETTINGS } from '#protocol/owner/clients'
import type { CreditRow } from '#protocol/owner/credit'
import type {
  BatchView,
  DifferenceView,
  EventsPart,
  FilesView,
  HeldView,
  LogPlace,
  Made,
  Managed,
  ManagedTarget,
  MoveView,
  NodeView,
  ProjectView,
  PullProgress,
  Resolved,
  TaskStatus,
  TaskView,
  WhyView,
  WrittenView
} from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'

type Fields = Readonly<Record<string, unknown>>

const WAITS: ReadonlySet<string> = new Set<WhyView['waitsFor']>([
  'quota',
  'submission',
  'sources',
  'node',
  'turn',
  'runs',
  'comparison',
  'release',
  'output',
  'nothing'
])
const STATUSES: ReadonlySet<string> = new Set<TaskStatus>(['created', 'staged', 'running', 'validating', 'ready', 'failed', 'killed'])

/** Decodes a body and checks it with `check`. Throws ClientError `refused`: the project speaks something we do not. */
export function readBody<T>(body: Uint8Array | undefined, check: (value: unknown) => T | undefined): T {
  let value: unknown
  try {
    value = body === undefined ? undefined : dagCbor.decode(body)
  } catch {
    value = undefined
  }
  const checked = check(value)
  if (checked === undefined) throw new ClientError('refused', 'the project answered something this talko does not understand; is one of the two much older?')
  return checked
}

export function taskView(value: unknown): TaskView | undefined {
  const fields = record(value)
  if (fields === undefined || typeof fields.id !== 'string' || parseTaskId(fields.id) === undefined) return undefined
  if (!texts(fields, ['name', 'batch', 'status', 'bundle']) || !STATUSES.has(fields.status as string)) return undefined
  if (!wholes(fields, ['index', 'createdAtMs', 'quorum', 'agreeing', 'replicasIssued', 'numFailures'])) return undefined
  if (!optionalTexts(fields, ['output', 'stdout', 'stderr', 'repeats'])) return undefined
  if (!Array.isArray(fields.command) || !fields.command.every((part) => typeof part === 'string')) return undefined
  const isReplica = (item: unknown): boolean =>
    texts(record(item) ?? {}, ['node', 'state']) &&
    optionalTexts(record(item) ?? {}, ['log']) &&
    isProgress(record(item)?.progress) &&
    goesOn(record(item) ?? {}, 'atMs')
  if (fields.replicas !== undefined && !(Array.isArray(fields.replicas) && fields.replicas.every(isReplica))) return undefined
  if (!heldView(fields.held) || !isProgress(fields.progress)) return undefined
  const failure = fields.failure === undefined ? {} : record(fields.failure)
  if (failure === undefined || (fields.failure !== undefined && !texts(failure, ['code', 'message']))) return undefined
  return fields as unknown as TaskView
}

export function whyView(value: unknown): WhyView | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['task', 'name', 'status', 'waitsFor']) || !STATUSES.has(fields.status as string)) return undefined
  if (!WAITS.has(fields.waitsFor as string) || parseTaskId(fields.task as string) === undefined || !wholes(fields, ['waitedMs', 'quorum', 'wanted']))
    return undefined
  const rows = (name: string, check: (row: Fields) => boolean): boolean =>
    fields[name] === undefined || (Array.isArray(fields[name]) && fields[name].every((row) => check(record(row) ?? {})))
  const part = (name: string, check: (row: Fields) => boolean): boolean => fields[name] === undefined || check(record(fields[name]) ?? {})
  const named = (row: Fields): boolean => texts(row, ['id', 'name'])
  const turn = (row: Fields): boolean => texts(row, ['client']) && wholes(row, ['slots', 'waiting']) && typeof row.share === 'number'
  const right =
    fields.runs !== undefined &&
    rows(
      'runs',
      (row) =>
        texts(row, ['node', 'nodeName', 'state']) &&
        wholes(row, ['attempt', 'forMs']) &&
        typeof row.straggles === 'boolean' &&
        (row.copy === undefined || typeof row.copy === 'boolean') &&
        isProgress(row.progress) &&
        goesOn(row, 'agoMs')
    ) &&
    rows(
      'nodes',
      (row) => texts(row, ['reason']) && wholes(row, ['count']) && Array.isArray(row.nodes) && row.nodes.every((node) => named(record(node) ?? {}))
    ) &&
    rows('holders', named) &&
    rows('next', (row) => named(row) && typeof row.here === 'boolean') &&
    rows('faults', (row) => texts(row, ['node', 'nodeName', 'state', 'message']) && wholes(row, ['attempt'])) &&
    part('needs', isNeeds) &&
    part('nearest', (row) => texts(row, ['requirement', 'node', 'nodeName']) && wholes(row, ['needs', 'offers'])) &&
    part(
      'shares',
      (row) => wholes(row, ['others']) && turn(record(row.own) ?? {}) && Array.isArray(row.before) && row.before.every((one) => turn(record(one) ?? {}))
    ) &&
    part('quota', (row) => texts(row, ['limit']) && wholes(row, ['used', 'max']) && (row.untilMs === undefined || wholes(row, ['untilMs']))) &&
    part('ahead', (row) => wholes(row, ['tasks', 'replicas'])) &&
    part('failure', (row) => texts(row, ['code', 'message'])) &&
    (fields.awaits === undefined || isTexts(fields.awaits)) &&
    part('comparing', (row) => texts(row, ['kind']) && optionalTexts(row, ['bundle', 'trouble'])) &&
    heldView(fields.held) &&
    ['startMs', 'endMs', 'runMs', 'sources'].every((name) => fields[name] === undefined || Number.isSafeInteger(fields[name]))
  return right ? (fields as unknown as WhyView) : undefined
}

function isNeeds(row: Fields): boolean {
  const gpus = row.gpus === undefined ? undefined : (record(row.gpus) ?? {})
  return (
    texts(row, ['engine']) &&
    wholes(row, ['cpuMillis', 'memoryBytes', 'diskBytes', 'named']) &&
    optionalTexts(row, ['platform', 'trust']) &&
    (row.tags === undefined || isTexts(row.tags)) &&
    (row.deadlineMs === undefined || Number.isSafeInteger(row.deadlineMs)) &&
    (gpus === undefined || (wholes(gpus, ['count', 'memoryBytes']) && texts(gpus, ['model', 'driver'])))
  )
}

export function logPlace(value: unknown): LogPlace | undefined {
  const fields = record(value)
  const right =
    fields !== undefined && texts(fields, ['task', 'node', 'identity']) && wholes(fields, ['attempt', 'offset']) && typeof fields.missed === 'boolean'
  return right && (fields.offset as number) >= 0 ? (fields as unknown as LogPlace) : undefined
}

const KINDS: ReadonlySet<string> = new Set<FilesView['entries'][number]['kind']>(['file', 'directory', 'link', 'special'])

export function filesView(value: unknown): FilesView | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['task', 'node']) || !wholes(fields, ['attempt']) || typeof fields.more !== 'boolean') return undefined
  const right = (entry: Fields): boolean =>
    texts(entry, ['name', 'kind']) &&
    KINDS.has(entry.kind as string) &&
    wholes(entry, ['bytes']) &&
    (entry.modifiedMs === undefined || wholes(entry, ['modifiedMs'])) &&
    optionalTexts(entry, ['target'])
  return Array.isArray(fields.entries) && fields.entries.every((entry) => right(record(entry) ?? {})) ? (fields as unknown as FilesView) : undefined
}

export function writtenView(value: unknown): WrittenView | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['task']) || !Array.isArray(fields.replicas)) return undefined
  const right = (one: Fields): boolean => texts(one, ['node', 'fault']) && wholes(one, ['attempt'])
  return fields.replicas.every((one) => right(record(one) ?? {})) ? (fields as unknown as WrittenView) : undefined
}

export function batchView(value: unknown): BatchView | undefined {
  const fields = record(value)
  if (fields === undefined || typeof fields.id !== 'string' || !isBatchId(fields.id) || typeof fields.name !== 'string') return undefined
  return wholes(fields, ['createdAtMs', 'tasks', 'created', 'running', 'validating', 'ready', 'failed', 'killed']) &&
    heldView(fields.held) &&
    optionalTexts(fields, ['by', 'retryOf']) &&
    (fields.policy === undefined || record(fields.policy) !== undefined) &&
    labelList(fields.labels)
    ? (fields as unknown as BatchView)
    : undefined
}

export function nodeView(value: unknown): NodeView | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['id', 'name', 'state', 'platform'])) return undefined
  if (!isTexts(fields.engines) || !isTexts(fields.tags) || !optionalTexts(fields, ['owner']) || typeof fields.ownerOnly !== 'boolean') return undefined
  if (fields.groups !== undefined && !isTexts(fields.groups)) return undefined
  if (fields.ban !== undefined && banView(fields.ban) === undefined) return undefined
  if (fields.next !== undefined && !wholes(fields, ['next'])) return undefined
  if (fields.cores !== undefined && !wholes(fields, ['cores'])) return undefined
  if (fields.processorsEach !== undefined && !(typeof fields.processorsEach === 'number' && fields.processorsEach >= 0)) return undefined
  if (!Array.isArray(fields.gpus) || !fields.gpus.every((gpu) => isGpu(record(gpu) ?? {}))) return undefined
  return wholes(fields, ['availability', 'slots', 'busy', 'lastSeenMs', 'valid', 'invalid', 'errors', 'lost', 'dataTrees', 'dataBytes'])
    ? (fields as unknown as NodeView)
    : undefined
}

function isGpu(gpu: Fields): boolean {
  return texts(gpu, ['uuid', 'model', 'driver']) && wholes(gpu, ['memoryBytes']) && typeof gpu.taken === 'boolean'
}

export function projectView(value: unknown): ProjectView | undefined {
  const fields = record(value)
  const programs = fields?.programs === undefined ? undefined : (record(fields.programs) ?? {})
  if (programs !== undefined && !(texts(programs, ['platform', 'trouble']) && isTexts(programs.engines))) return undefined
  if (fields === undefined || !texts(fields, ['id', 'name', 'version']) || !wholes(fields, ['epoch', 'nodes'])) return undefined
  return Array.isArray(fields.addresses) && fields.addresses.every((address) => typeof address === 'string') ? (fields as unknown as ProjectView) : undefined
}

export function differenceView(value: unknown): DifferenceView | undefined {
  const fields = record(value)
  const file = (of: unknown): boolean => {
    const row = record(of) ?? {}
    const hint = row.hint === undefined ? { kind: '', message: '' } : record(row.hint)
    return texts(row, ['path', 'what']) && wholes(row, ['bytesA', 'bytesB']) && texts(hint ?? {}, ['kind', 'message']) && optionalTexts(hint ?? {}, ['rule'])
  }
  if (fields === undefined || typeof fields.more !== 'boolean' || !Array.isArray(fields.files) || !fields.files.every(file)) return undefined
  if (fields.near !== undefined && !wholes(fields, ['near'])) return undefined
  const program = fields.program === undefined ? undefined : (record(fields.program) ?? {})
  if (program !== undefined && !(texts(program, ['bundle']) && (typeof program.agree === 'boolean' || typeof program.fault === 'string'))) return undefined
  return fields.stdout === undefined || file(fields.stdout) ? (fields as unknown as DifferenceView) : undefined
}

export function clientView(value: unknown): ClientView | undefined {
  const fields = record(value)
  const settings = record(fields?.settings)
  const used = record(fields?.used)
  if (fields === undefined || settings === undefined || used === undefined || clientSettingsFault(settings) !== undefined) return undefined
  if (Object.keys(settings).length < Object.keys(DEFAULT_CLIENT_SETTINGS).length || !texts(fields, ['client']) || !wholes(fields, ['periodEndsAtMs']))
    return undefined
  if (typeof fields.administrator !== 'boolean' || typeof fields.member !== 'boolean') return undefined
  return wholes(used, ['inputBytes', 'outputBytes', 'timeMs', 'totalMs', 'runs', 'parallel', 'tasks', 'batches'])
    ? (fields as unknown as ClientView)
    : undefined
}

export function banView(value: unknown): BanView | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['kind', 'value', 'by', 'reason']) || !wholes(fields, ['atMs'])) return undefined
  return fields as unknown as BanView
}

export function creditRow(value: unknown): CreditRow | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['id']) || !wholes(fields, ['credit']) || !optionalTexts(fields, ['name', 'owner'])) return undefined
  const counts = ['valid', 'invalid', 'nodes'].filter((name) => fields[name] !== undefined)
  if (fields.errorRate !== undefined && typeof fields.errorRate !== 'number') return undefined
  return wholes(fields, counts) ? (fields as unknown as CreditRow) : undefined
}

export function signedPage(value: unknown): SignedPage | undefined {
  if (!Array.isArray(value) || value.length !== 2) return undefined
  const [body, signature] = value as unknown[]
  return body instanceof Uint8Array && signature instanceof Uint8Array ? { body, signature } : undefined
}

export function banAnswer(value: unknown): BanAnswer | undefined {
  const fields = record(value)
  const node = (one: unknown): boolean => texts(record(one) ?? {}, ['id', 'name']) && wholes(record(one) ?? {}, ['runs', 'results'])
  if (fields === undefined || !texts(record(fields.target) ?? {}, ['kind', 'value']) || typeof fields.banned !== 'boolean' || !wholes(fields, ['more']))
    return undefined
  return Array.isArray(fields.nodes) && fields.nodes.every(node) ? (fields as unknown as BanAnswer) : undefined
}

export function resolved(value: unknown): Resolved | undefined {
  const fields = record(value)
  if (fields === undefined || !texts(fields, ['kind', 'id']) || !optionalTexts(fields, ['name'])) return undefined
  return fields.kind === 'batch' || fields.kind === 'task' || fields.kind === 'data' ? (fields as unknown as Resolved) : undefined
}

export function pullProgress(value: unknown): PullProgress | undefined {
  const fields = record(value)
  return fields !== undefined && wholes(fields, ['bytes', 'totalBytes']) ? (fields as unknown as PullProgress) : undefined
}

export function made(value: unknown): Made | undefined {
  const fields = record(value)
  return fields !== undefined && texts(fields, ['root']) && wholes(fields, ['bytes']) ? (fields as unknown as Made) : undefined
}

export function eventsPart(value: unknown): EventsPart | undefined {
  const fields = record(value)
  if (fields === undefined || !wholes(fields, ['after', 'missed']) || listOf(moveView)(fields.moves) === undefined) return undefined
  return fields as unknown as EventsPart
}

function moveView(value: unknown): MoveView | undefined {
  const fields = record(value)
  if (fields === undefined || !wholes(fields, ['number', 'atMs']) || !texts(fields, ['kind', 'id', 'state', 'cause'])) return undefined
  return optionalTexts(fields, ['node', 'actor', 'detail']) ? (fields as unknown as MoveView) : undefined
}

export function managed(value: unknown): Managed | undefined {
  const targets = listOf(managedTarget)(record(value)?.targets)
  return targets === undefined ? undefined : { targets }
}

function managedTarget(value: unknown): ManagedTarget | undefined {
  const fields = record(value)
  if (fields === undefined || resolved(value) === undefined || !optionalTexts(fields, ['retryOf'])) return undefined
  return fields.tasks === undefined || wholes(fields, ['tasks']) ? (fields as unknown as ManagedTarget) : undefined
}

export function listOf<T>(check: (value: unknown) => T | undefined): (value: unknown) => T[] | undefined {
  return (value) => {
    if (!Array.isArray(value)) return undefined
    const rows = value.map(check).filter((row) => row !== undefined)
    return rows.length === value.length ? rows : undefined
  }
}

function labelList(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.every((label) => typeof label === 'string'))
}

/** Nothing, or how far a run is. */
/** What it goes on from, and what it left. `time`: how it is told when that was. */
function goesOn({ from, checkpoint }: Fields, time: 'atMs' | 'agoMs'): boolean {
  return (from === undefined || Number.isSafeInteger(from)) && (checkpoint === undefined || wholes(record(checkpoint) ?? {}, [time, 'doneMs', 'bytes']))
}

function isProgress(value: unknown): boolean {
  const { done, note, leftMs } = value === undefined ? { done: 0 } : ((record(value) ?? {}) as Fields)
  return (
    typeof done === 'number' &&
    done >= 0 &&
    done <= 1 &&
    (note === undefined || typeof note === 'string') &&
    (leftMs === undefined || Number.isSafeInteger(leftMs))
  )
}

/** Nothing, or who held it and why. */
function heldView(value: unknown): value is HeldView | undefined {
  const held = record(value)
  return value === undefined || (held !== undefined && texts(held, ['by', 'reason']) && wholes(held, ['atMs']))
}

function record(value: unknown): Fields | undefined {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((text) => typeof text === 'string')
}

function texts(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => typeof fields[name] === 'string')
}

function optionalTexts(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => fields[name] === undefined || typeof fields[name] === 'string')
}

function wholes(fields: Fields, names: readonly string[]): boolean {
  return names.every((name) => Number.isSafeInteger(fields[name]))
}
