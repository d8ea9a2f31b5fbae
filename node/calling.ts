/**
 * When the node calls its coordinator, how long it waits, and when it gives a connection up: a pure state machine.
 *
 * away -> calling -> online -> away, and from each to away when the connection is lost. A connection can die without a word
 * (a router forgot it, a cable was pulled): whoever only writes to it learns of that after a quarter of an hour. The
 * coordinator answers every heartbeat, so a node that hears nothing hangs up and calls again, before the coordinator gives it up.
 */
import {
  HEARTBEAT_MS,
  HEARTBEAT_MS_MAX,
  HEARTBEAT_MS_MIN,
  NEWS_MS_MAX,
  RECONNECT_FIRST_MS,
  RECONNECT_MS_MAX,
  SILENT_BEATS_MAX,
  SILENT_MS_MIN,
  WELCOME_MS_MAX
} from './policy.ts'

export type CallState =
  /** Waits before its next call; `failures` in a row. */
  | { readonly at: 'away'; readonly failures: number }
  /** Dials, opens the stream and says hello; there is no welcome yet. */
  | { readonly at: 'calling'; readonly failures: number }
  /** `unanswered` heartbeats were sent since the coordinator was heard last. */
  | { readonly at: 'online'; readonly beatMs: number; unanswered: number }

export type CallEvent =
  /** The time that the last step asked for is over. */
  | { readonly kind: 'time' }
  /** `heartbeatMs` as the coordinator wants it; 0 leaves it to the node. */
  | { readonly kind: 'welcomed'; readonly heartbeatMs: number }
  /** A frame came. */
  | { readonly kind: 'heard' }
  /** The attempt failed or the connection is over. `draw` in 0 to 1 scatters the pause. */
  | { readonly kind: 'lost'; readonly draw: number }
  /** There is news of the project: it is perhaps to be reached now. `leftMs` of the pause are left. */
  | { readonly kind: 'news'; readonly draw: number; readonly leftMs: number }

export type CallAct = 'nothing' | 'call' | 'beat' | 'give up' | 'hang up'

export interface CallStep {
  readonly state: CallState
  readonly act: CallAct
  /** Until the next `time`; undefined leaves the running time as it is. */
  readonly waitMs: number | undefined
}

export const FIRST_CALL: CallState = { at: 'away', failures: 0 }

export function step(state: CallState, event: CallEvent): CallStep {
  switch (event.kind) {
    case 'welcomed':
      return online(event.heartbeatMs)
    case 'heard':
      if (state.at === 'online') state.unanswered = 0
      return { state, act: 'nothing', waitMs: undefined }
    case 'lost': {
      const failures = state.at === 'online' ? 0 : state.failures
      return { state: { at: 'away', failures: failures + 1 }, act: 'nothing', waitMs: pauseMs(failures, event.draw) }
    }
    case 'news':
      return { state, act: 'nothing', waitMs: state.at === 'away' ? Math.min(event.leftMs, Math.round(event.draw * NEWS_MS_MAX)) : undefined }
    case 'time':
      if (state.at === 'away') return { state: { at: 'calling', failures: state.failures }, act: 'call', waitMs: WELCOME_MS_MAX }
      if (state.at === 'calling') return { state, act: 'give up', waitMs: undefined }
      if (state.unanswered >= silentBeats(state.beatMs)) return { state, act: 'hang up', waitMs: undefined }
      state.unanswered++
      return { state, act: 'beat', waitMs: state.beatMs }
  }
}

function online(heartbeatMs: number): CallStep {
  const beatMs = heartbeatMs === 0 ? HEARTBEAT_MS : Math.min(Math.max(heartbeatMs, HEARTBEAT_MS_MIN), HEARTBEAT_MS_MAX)
  return { state: { at: 'online', beatMs, unanswered: 0 }, act: 'nothing', waitMs: beatMs }
}

/** Beats are counted, not milliseconds: a node that was stopped itself has sent none meanwhile, and hangs up on nobody. */
function silentBeats(beatMs: number): number {
  return Math.max(SILENT_BEATS_MAX, Math.ceil(SILENT_MS_MIN / beatMs))
}

/** Doubling up to a bound, scattered over its upper half: after a coordinator's restart not all its nodes come at once. */
function pauseMs(failures: number, draw: number): number {
  const most = Math.min(RECONNECT_MS_MAX, RECONNECT_FIRST_MS * 2 ** Math.min(failures, 16))
  return Math.round((most / 2) * (1 + draw))
}
