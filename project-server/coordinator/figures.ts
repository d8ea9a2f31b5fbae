/**
 * How far runs say that they are (O08). For people alone: a node can say anything here, so nothing is decided by it, nothing of
 * it is written, and what is kept is one figure of each run, taken once a second at most.
 */
import { DONE_PPM_MAX } from '#protocol/control/messages'
import type { RunProgress } from '#protocol/owner/messages'
import type { Replica } from './model.ts'
import { FIGURE_LEFT_MS_MAX, FIGURE_MS_MIN } from './policy.ts'

export interface Figure {
  /** Millionths of the whole. */
  readonly donePpm: number
  /** '' for nothing. */
  readonly note: string
}

/** A figure, and when it came. */
export interface FigureAt extends Figure {
  readonly atMs: number
}

/** Of a run that has not ended; one that comes too soon after another is left out. */
export function noteFigure(replica: Replica, { donePpm, note }: Figure, nowMs: number): void {
  const { state, figure } = replica
  if (state !== 'running' || (figure !== null && Math.abs(nowMs - figure.atMs) < FIGURE_MS_MIN)) return
  replica.figure = { donePpm, note, atMs: nowMs }
}

/** It is taken to go on as fast as it went until it said so; of one that has hardly begun nobody can tell. */
export function progressOf({ state, atMs, figure }: Pick<Replica, 'state' | 'atMs' | 'figure'>, nowMs: number): RunProgress | undefined {
  if (state !== 'running' || figure === null) return undefined
  const { donePpm, note } = figure
  const wholeMs = ((figure.atMs - atMs) * DONE_PPM_MAX) / donePpm
  const leftMs = Math.max(0, Math.round(atMs + wholeMs - nowMs))
  return {
    done: donePpm / DONE_PPM_MAX,
    ...(note === '' ? {} : { note }),
    ...(donePpm > 0 && figure.atMs > atMs && leftMs <= FIGURE_LEFT_MS_MAX ? { leftMs } : {})
  }
}
