/** The task of benchmarks that does nothing: what its owner asks for, and what its executor says at its end. BullMQ's jobs carry the same. */

/** They write nothing; at the default of 4 GiB each, the free disk would bound how many run at once. */
const DISK_BYTES = 1024 ** 2

/** No two of one measurement, and no two measurements, ask for the same. */
export function noOpSpec(round: number, index: number) {
  return { command: ['true'], engine: 'process', environment: { RUN: String(round), INDEX: String(index) }, resources: { diskBytes: DISK_BYTES } } as const
}

export function noOpEnd() {
  const nowMs = Date.now()
  return { reason: 'exit', exitCode: 0, startedAtMs: nowMs, endedAtMs: nowMs, cpuMs: 0, memoryPeakBytes: 0 } as const
}
