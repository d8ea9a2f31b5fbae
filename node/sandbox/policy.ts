/** The sandbox's numbers. */

/** Who a task is when the node is root: between the ranges systemd gives to homes and to dynamic users, so nobody's on any common system. */
export const TASK_UID = 61_000

/** The engine's own processes in the container: docker-init, and the runtime's threads until it becomes the command (fewer than 16 and it does not start). */
export const INIT_PIDS = 1
export const PIDS_MIN = 16

export const SHM_BYTES_MAX = 64 * 1024 ** 2
export const TMP_INODES_MAX = 100_000
export const OPEN_FILES_MAX = 4096
/** tmpfs takes size 0 for unlimited. */
export const TMP_BYTES_MIN = 4096

/** stdout and stderr together may always have this much, also when the manifest allows no disk. */
export const LOG_BYTES_MIN = 64 * 1024

/** The engine's own copy of the output, read again after the node's death. */
export const ENGINE_LOG_BYTES = '32m'
export const ENGINE_LOG_FILES = '2'

/** When a run is looked at after its start; then every LOOK_MS, or more seldom where looking is slow. The first looks are early because a short run leaves no counters behind. */
const FIRST_LOOKS_MS: readonly number[] = [20, 80, 200, 400]
export const LOOK_MS = 1000
/** Looking takes at most this share of a core. */
export const LOOK_SHARE_MAX = 0.05

/** The volunteer's disk is never filled beyond this: runs end as the node's failure, not the task's. */
export const FREE_BYTES_MIN = 256 * 1024 ** 2

/** A run that was refused this many forks is a fork bomb and is ended; a few refusals are the program's to handle. */
export const REFUSED_FORKS_MAX = 1000

/** Peak memory from this share of the limit on makes an unexplained SIGKILL a memory one (the engine's flag lies where its cgroups are not all mounted). */
export const MEMORY_PEAK_SHARE = 0.98

/** After the container ended, what is left in the stream must come within this time. */
export const DRAIN_MS_MAX = 10_000
/** After KILL, the stream is given up when the engine does not report the end: it waits for its readers. */
export const KILL_STREAM_MS = 5_000

export const CREATES_PER_CORE = 2

/** When to look again after a look that took `tookMs`; `looks` were made before. */
export function nextLookMs(looks: number, tookMs: number): number {
  const wanted = FIRST_LOOKS_MS[looks] ?? LOOK_MS
  return Math.max(wanted, Math.ceil(tookMs / LOOK_SHARE_MAX))
}

/** Between two looks a run counts as silent for at most so long: looks that take long are this far apart, and a machine that slept is not held against it. */
export const LOOK_GAP_MS_MAX = 10_000
/** Processor time that is a sign of life: more than this share of the time since the last sign, and more than two ticks of the kernel's clock. What only waits in a loop uses less. */
export const SIGN_CPU_SHARE = 0.01
export const SIGN_CPU_MS_MIN = 20
/** Entries at the top of an output that are looked at for a change. */
export const SIGN_ENTRIES_MAX = 64
