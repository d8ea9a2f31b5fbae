/**
 * Comparing two outputs by a program of the owner's. It sees them read-only, the one whose vote comes first in the order of characters as
 * `a`, so that two outputs are asked about in one way alone; what it writes is lost, and its exit status is the answer.
 *
 * | | |
 * | --- | --- |
 * | `/in/a`, `/in/b` | the two output folders |
 * | `/in/a.stdout`, `/in/b.stdout` | what the two runs printed, where that counts |
 * | `/in/<name>` | the inputs of its own bundle |
 * | exit status 0, 1 | they agree; they do not |
 * | any other, or a limit | the program itself is at fault: nobody is judged by it |
 */

import { ManifestError } from '../bundle/errors.ts'
import { decodeManifest, type RunManifest } from '../bundle/manifest.ts'
import { COMPARATOR_CPU_MILLIS_MAX, COMPARATOR_DISK_BYTES_MAX, COMPARATOR_MEMORY_BYTES_MAX, COMPARATOR_TIME_MS_MAX } from './policy.ts'

/** Names under `/in` that are the outputs'. */
export const COMPARED_NAMES = ['a', 'b', 'a.stdout', 'b.stdout'] as const

/** What a run said; undefined when it is no answer. */
export function answerOf(end: { readonly reason: string; readonly exitCode: number }): boolean | undefined {
  if (end.reason !== 'exit') return undefined
  return end.exitCode === 0 ? true : end.exitCode === 1 ? false : undefined
}

/** The bundle of a comparator, from hostile bytes; or why it can be none, for the person who made it. */
export function comparatorOf(bytes: Uint8Array): RunManifest | string {
  let manifest: RunManifest
  try {
    manifest = decodeManifest(bytes)
  } catch (error) {
    if (error instanceof ManifestError) return `it is no bundle: ${error.message}`
    throw error
  }
  const taken = manifest.dependencies.find(({ name }) => COMPARED_NAMES.some((compared) => compared === name))
  if (taken !== undefined) return `its input ${taken.name} has the name of what it compares: rename it`
  if (manifest.gpus !== undefined) return 'it asks for GPUs, and a comparator has none'
  const { cpuMillis, memoryBytes, timeMs, diskBytes } = manifest.resources
  if (cpuMillis > COMPARATOR_CPU_MILLIS_MAX) return `it asks for ${cpuMillis / 1000} CPUs, and a comparator has ${COMPARATOR_CPU_MILLIS_MAX / 1000} at most`
  if (memoryBytes > COMPARATOR_MEMORY_BYTES_MAX)
    return `it asks for ${memoryBytes} bytes of memory, and a comparator has ${COMPARATOR_MEMORY_BYTES_MAX} at most`
  if (timeMs > COMPARATOR_TIME_MS_MAX) return `it asks for ${timeMs / 1000} s, and a comparator has ${COMPARATOR_TIME_MS_MAX / 1000} s at most`
  if (diskBytes > COMPARATOR_DISK_BYTES_MAX) return `it asks for ${diskBytes} bytes of disk, and a comparator has ${COMPARATOR_DISK_BYTES_MAX} at most`
  return manifest
}
