/** Why a run ended: from what the engine says, what we did, and what the limits' counters show. */
import type { EndReason } from '#protocol/result/result'
import { MEMORY_PEAK_SHARE } from './policy.ts'

/** What made us end a run ourselves. */
export const STOP_CAUSES = ['time', 'disk', 'pids', 'hang', 'killed'] as const
export type StopCause = (typeof STOP_CAUSES)[number]

export interface Exit {
  readonly exitCode: number
  /** Set when we ended it. */
  readonly stopped: StopCause | undefined
  /** The engine's flag: true also when only a child of the command was killed. */
  readonly oomKilled: boolean
  /** 0 when unknown. */
  readonly memoryPeakBytes: number
  readonly memoryBytesMax: number
  /** Whether a fork was refused for the limit's sake. */
  readonly pidsRefused: boolean
  /** Output tree, stdout and stderr when it ended. */
  readonly diskBytes: number
  readonly diskBytesMax: number
}

const SIGKILL_EXIT = 128 + 9
/** A single file grew to the limit. */
const SIGXFSZ_EXIT = 128 + 25

/**
 * Our own cause first, unless the run was quicker than our KILL; then the limits that explain how it ended; else it ended by
 * itself. Disk counts also after success, so that every node judges the same output alike; memory and processes only where
 * the run failed.
 */
export function endReason(exit: Exit): EndReason | 'hang' {
  if (exit.stopped === 'killed' || (exit.stopped !== undefined && exit.exitCode === SIGKILL_EXIT)) return exit.stopped
  if (exit.diskBytes > exit.diskBytesMax || exit.exitCode === SIGXFSZ_EXIT) return 'disk'
  if (exit.exitCode === SIGKILL_EXIT && (exit.oomKilled || exit.memoryPeakBytes >= exit.memoryBytesMax * MEMORY_PEAK_SHARE)) return 'memory'
  if (exit.exitCode !== 0 && exit.pidsRefused) return 'pids'
  return 'exit'
}

/** What an engine's refusal to start a command means; undefined when it is no fault of the task's. */
export function startFailure(message: string): { readonly reason: EndReason; readonly exitCode: number } | undefined {
  if (/docker-init/.test(message)) return undefined
  if (/OOM-killed|memory limit too low/i.test(message)) return { reason: 'memory', exitCode: SIGKILL_EXIT }
  if (/executable file not found|no such file or directory: unknown|stat .*: no such file/i.test(message)) return { reason: 'exit', exitCode: 127 }
  if (/exec.*permission denied|exec format error|is a directory: unknown/i.test(message)) return { reason: 'exit', exitCode: 126 }
  return undefined
}
