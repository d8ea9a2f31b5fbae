/** The control stream's messages, version and bounds. Everything a peer sends is decoded here before anyone looks at it. */
import { GPUS_MAX } from '../bundle/manifest.ts'
import { TAGS_MAX } from '../bundle/policy.ts'
import { Frame } from './control.js'

export * from './control.js'

export const CONTROL_PROTOCOL = '/talko/control/1.0.0'
export const CONTROL_VERSION = 1
export const FRAME_BYTES_MAX = 4 * 1024 * 1024
/** Leases, results or replicas in one frame. */
export const FRAME_ITEMS_MAX = 4096
/** Trees that a node tells of. */
export const HOLDINGS_MAX = 1024
/** Smaller trees are not told of and not looked at when a node is chosen: a MiB takes a tenth of a second over a volunteer's 100 Mbit/s, which no choice is worth. */
export const HOLDING_BYTES_MIN = 1024 * 1024
/** Replicas of which one crash is told, and characters of the log that goes with each. */
export const CRASHED_REPLICAS_MAX = 16
export const LAST_WORDS_CHARS_MAX = 4096
/** Results of others that are told of at once: each costs a check of its signature. */
export const PARKED_PER_FRAME_MAX = 16
/** Of what a run says of how far it is: the whole, and characters of what stands beside the figure. */
export const DONE_PPM_MAX = 1_000_000
export const PROGRESS_NOTE_CHARS_MAX = 40
/** Bundles whose content one node brings to itself ahead of their leases: a few slots become free together at the most, and each holds room of its disk. */
export const NEXT_MAX = 4
/** The domain under which a project signs manifests. */
export const BUNDLES_DOMAIN = 'talko-bundles-1'

/** undefined for bytes that are not a frame of this version's shape and bounds. */
export function decodeFrame(bytes: Uint8Array): Frame | undefined {
  if (bytes.length > FRAME_BYTES_MAX) return undefined
  try {
    return Frame.decode(bytes, {
      limits: {
        hello: {
          versions: 16,
          replicas: FRAME_ITEMS_MAX,
          holdings: HOLDINGS_MAX,
          capabilities: { engines: 16, tags: TAGS_MAX, exclusive: TAGS_MAX, groups: TAGS_MAX, gpus: GPUS_MAX }
        },
        holdings: { got: HOLDINGS_MAX, dropped: HOLDINGS_MAX },
        crashed: { replicas: CRASHED_REPLICAS_MAX },
        parked: { results: PARKED_PER_FRAME_MAX },
        checkpoints: { replicas: FRAME_ITEMS_MAX },
        taken: { replicas: FRAME_ITEMS_MAX },
        start: { replicas: FRAME_ITEMS_MAX },
        progress: { replicas: FRAME_ITEMS_MAX },
        reports: { results: FRAME_ITEMS_MAX },
        returned: { replicas: FRAME_ITEMS_MAX },
        welcome: { unknown: FRAME_ITEMS_MAX },
        assign: { leases: FRAME_ITEMS_MAX },
        grant: { granted: FRAME_ITEMS_MAX, refused: FRAME_ITEMS_MAX },
        next: { manifests: NEXT_MAX },
        cancel: { replicas: FRAME_ITEMS_MAX },
        release: { replicas: FRAME_ITEMS_MAX },
        commits: { replicas: FRAME_ITEMS_MAX },
        reveal: { replicas: FRAME_ITEMS_MAX }
      }
    })
  } catch {
    return undefined
  }
}
