/** Times by a clock that can be set back: whoever waits for one waits no longer for that. */

/** `atMs` has come, or is further ahead than anybody waits (`waitMs`). Infinity never comes. */
export function isPast(atMs: number, waitMs: number, nowMs: number): boolean {
  return nowMs >= atMs || (Number.isFinite(atMs) && atMs - nowMs > waitMs)
}
