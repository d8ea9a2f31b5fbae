/** The node's talk with its coordinator over one stream: hello, welcome, the numbers that come, and what is told without one. */
import { NEXT_MAX } from '#protocol/control/messages'
import { tellKept } from './custody.ts'
import { end } from './ending.ts'
import type { AgentEvent, Replica } from './events.ts'
import { setNext } from './next.ts'
import { KILL_GRACE_MS, REPLICAS_HELD_MAX } from './policy.ts'
import type { State } from './state.ts'

/** A stream is open. */
export function hello(state: State, spare: Uint8Array): void {
  const { held, outbox, stock } = state
  state.welcomed = false
  state.spare = spare
  state.demandTold = demandOf(state)
  state.effect({
    kind: 'hello',
    link: outbox.link,
    spare,
    received: outbox.received,
    replicas: held.ids().filter((id) => !isUnwanted(held.get(id))),
    slots: state.demandTold,
    holdings: stock?.holdings() ?? [],
    next: NEXT_MAX
  })
  stock?.forgetNews()
}

export function disconnected(state: State): void {
  state.spare = undefined
  state.welcomed = false
  state.lastWords?.disconnected()
  setNext(state, [])
}

/** The hello is answered: the link goes on, or another begins. */
export function welcome(state: State, event: Extract<AgentEvent, { kind: 'welcome' }>, nowMs: number): void {
  const { held, outbox, spare } = state
  if (spare === undefined) return
  if (!event.resumed || !outbox.resumable(event.received)) {
    for (const id of held.ids()) end(state, id, { fault: null, graceMs: KILL_GRACE_MS }, nowMs)
    state.gathered?.unsay()
    outbox.reset(spare)
    if (event.resumed) {
      state.prompt({ kind: 'disconnect', message: 'the node and the coordinator do not remember the same messages; starting a new link' })
      return
    }
  } else {
    outbox.acknowledged(event.received)
  }
  state.spare = undefined
  state.welcomed = true
  state.awaySinceMs = undefined
  const crashed = state.lastWords?.welcomed(nowMs)
  if (crashed !== undefined) state.effect({ kind: 'send', frame: crashed })
  const snapshots = state.snapshots?.all()
  if (snapshots !== undefined) state.effect({ kind: 'send', frame: snapshots })
  if (state.kept !== undefined) tellKept(state, state.kept.results())
  held.untold()
  for (const id of event.unknown) end(state, id, { fault: null, graceMs: KILL_GRACE_MS }, nowMs)
  for (const frame of outbox.pending()) state.effect({ kind: 'send', frame })
}

/** Counts a numbered frame: true when it is new and must be applied. One already seen is acknowledged again. */
export function isNew(state: State, seq: number): boolean {
  if (!state.welcomed) return false
  const place = state.outbox.receive(seq)
  if (place === 'gap') {
    state.prompt({ kind: 'disconnect', message: `message ${seq} came after ${state.outbox.received}` })
    return false
  }
  state.gathering.owesAck = true
  return place === 'new'
}

/** How many leases it would take now. */
export function demandOf({ mode, engineUp, held, options }: State): number {
  if (mode !== 'active' || !engineUp) return 0
  return Math.max(0, Math.min(options.slots, REPLICAS_HELD_MAX - held.size))
}

/** How far what takes long is. */
export function tellProgress(state: State, nowMs: number): void {
  if (!state.welcomed) return
  for (const { replica, state: phase, figure } of state.held.progress(nowMs)) {
    if (figure === undefined) state.say.progress(replica, phase)
    else state.say.figure(replica, figure)
  }
}

function isUnwanted(replica: Replica | undefined): boolean {
  return replica?.phase === 'killing' && replica.fault === null
}
