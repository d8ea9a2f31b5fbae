/**
 * Tells a client what happened: what it may see of the journal, from a number on or the last so many moves, and what happens
 * from now on. From the store alone, so that nothing is told that a restart takes back.
 */
import { type BatchId, type PeerIdString, parseTaskId } from '#protocol/ids'
import { EVENTS_LAST_MAX, EVENTS_PART_MAX, type Events, type EventsPart, type MoveView } from '#protocol/owner/messages'
import { decodeEntry, firstOf, JOURNAL_PREFIX, journalKey } from '../coordinator/journal.ts'
import { EVENTS_MS } from '../policy.ts'
import type { Clock, Store } from '../ports.ts'
import { type Changes, EVERYTHING, pause } from './changes.ts'
import { type OpenRequest, OwnerError } from './request.ts'
import { type Names, resolve } from './resolve.ts'

export interface EventsPorts extends Names {
  readonly store: Pick<Store, 'range'>
  readonly changes: Changes
  readonly clock: Clock
}

const END = `${JOURNAL_PREFIX}~`
/** Entries read in one go: no iterator of the store stays open while a client reads. */
const ENTRIES_AT_ONCE = 64
/** Batches of which is remembered whose they are. */
const OWN_KNOWN_MAX = 10_000

export async function events(request: Events, open: OpenRequest, ports: EventsPorts): Promise<EventsPart> {
  const { follow, limit } = request
  if (limit > EVENTS_LAST_MAX)
    throw new OwnerError('malformed', `at most the last ${EVENTS_LAST_MAX} events are told at once; ask for those after a number instead`)
  const isMeant = await filterOf(request, ports)
  let { after } = request
  if (after === 0 && limit > 0) {
    const last = await lastMoves(limit, isMeant, ports)
    after = last.after
    for (const part of parts(last)) await open.part({ body: part })
  }
  for (;;) {
    const changed = ports.changes.next(EVERYTHING, open.signal)
    for (;;) {
      const next = await movesAfter(after, isMeant, ports)
      if (next === undefined) break
      after = next.after
      for (const part of parts(next)) await open.part({ body: part })
    }
    if (!follow) return { after, missed: 0, moves: [] }
    await Promise.all([changed, pause(ports.clock, EVENTS_MS, open.signal)])
    if (open.signal.aborted) throw new OwnerError('unavailable', 'the request was given up')
  }
}

type Filter = (move: MoveView) => Promise<boolean>

/** What is asked for, of what this client has. Nodes are everybody's. */
async function filterOf({ of, node }: Events, ports: EventsPorts): Promise<Filter> {
  const target = of === '' ? undefined : await resolve(of, ports)
  if (target?.kind === 'data') throw new OwnerError('not_found', `${target.id} is data, and nothing happens to it`)
  const known = new Map<BatchId, boolean>()
  const isOwn = async (batch: BatchId): Promise<boolean> => {
    const before = known.get(batch)
    if (before !== undefined) return before
    if (known.size >= OWN_KNOWN_MAX) known.clear()
    const own = (await ports.views.batch(batch)) !== undefined
    known.set(batch, own)
    return own
  }
  return async (move) => {
    if (!isOf(move, target?.id) || !isAbout(move, node)) return false
    return move.kind === 'node' || isOwn(move.id.split('.')[0] ?? '')
  }
}

function isOf({ kind, id }: MoveView, target: string | undefined): boolean {
  if (target === undefined) return true
  if (kind === 'node') return false
  const batch = parseTaskId(target)?.batch
  // What happens to a batch happens to its tasks.
  return id === target || id.startsWith(`${target}.`) || (batch !== undefined && id === batch)
}

function isAbout(move: MoveView, node: PeerIdString): boolean {
  return node === '' || move.node === node || (move.kind === 'node' && move.id === node)
}

/** The next of those after a number; undefined when there is none. */
async function movesAfter(after: number, isMeant: Filter, { store }: EventsPorts): Promise<EventsPart | undefined> {
  let from = JOURNAL_PREFIX
  for await (const [key] of store.range(JOURNAL_PREFIX, journalKey(after + 2), { reverse: true, limit: 1 })) from = key
  const entries: MoveView[][] = []
  for await (const [key, value] of store.range(from, END, { limit: ENTRIES_AT_ONCE })) entries.push(decodeEntry(firstOf(key), value))
  const all = entries.flat().filter(({ number }) => number > after)
  const [first] = all
  const last = all.at(-1)
  if (first === undefined || last === undefined) return undefined
  const missed = after === 0 ? 0 : first.number - after - 1
  return { after: last.number, missed, moves: await meant(all, isMeant) }
}

/** The last so many of those that are meant, and where to go on. */
async function lastMoves(limit: number, isMeant: Filter, { store }: EventsPorts): Promise<EventsPart> {
  let found: MoveView[] = []
  let after = 0
  let to = END
  while (found.length < limit) {
    let rows = 0
    for await (const [key, value] of store.range(JOURNAL_PREFIX, to, { reverse: true, limit: ENTRIES_AT_ONCE })) {
      rows++
      to = key
      const moves = decodeEntry(firstOf(key), value)
      after = Math.max(after, moves.at(-1)?.number ?? 0)
      found = [...(await meant(moves, isMeant)), ...found]
    }
    if (rows < ENTRIES_AT_ONCE) break
  }
  return { after, missed: 0, moves: found.slice(-limit) }
}

async function meant(moves: readonly MoveView[], isMeant: Filter): Promise<MoveView[]> {
  const found: MoveView[] = []
  for (const move of moves) if (await isMeant(move)) found.push(move)
  return found
}

/** So that a body has its bound. One without moves tells how far it was looked. */
function* parts({ after, missed, moves }: EventsPart): Generator<EventsPart, void, undefined> {
  for (let at = 0; at < moves.length - EVENTS_PART_MAX; at += EVENTS_PART_MAX) {
    const part = moves.slice(at, at + EVENTS_PART_MAX)
    yield { after: part.at(-1)?.number ?? after, missed: at === 0 ? missed : 0, moves: part }
  }
  const rest = moves.length === 0 ? 0 : Math.floor((moves.length - 1) / EVENTS_PART_MAX) * EVENTS_PART_MAX
  yield { after, missed: rest === 0 ? missed : 0, moves: moves.slice(rest) }
}
