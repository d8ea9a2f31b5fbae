/** Dials a peer at several addresses: one after the other begins, a little apart, and the first that answers counts (RFC 8305). */
import type { Connection } from '@libp2p/interface'
import type { Multiaddr } from '@multiformats/multiaddr'
import { isRelayed } from '../addresses.ts'
import { within } from './within.ts'

/** Until the next address is tried beside one that has not answered yet. */
const APART_MS = 300
/** Until relays are tried beside addresses that lead there directly: three round trips of a slow line. */
const RELAYED_AFTER_MS = 1_500
/** One address; a host that drops packets answers nothing. */
const DIAL_MS_MAX = 6_000

export interface Target {
  readonly text: string
  readonly address: Multiaddr
}

export interface Failure {
  readonly target: Target
  readonly cause: unknown
}

export type Dial = (address: Multiaddr, options: { readonly signal: AbortSignal }) => Promise<Connection>

/** The failures of all addresses, in their order; undefined when one answered. Throws the signal's reason. */
export async function dialFirst(targets: readonly Target[], dial: Dial, signals: readonly AbortSignal[]): Promise<readonly Failure[] | undefined> {
  const given = AbortSignal.any([...signals])
  const failures = new Map<Target, Failure>()
  const dialling = new Set<AbortController>()
  let answered = false
  const one = async (target: Target): Promise<void> => {
    // Its own, and cut off from the others at the end: what ends dials later must not touch a connection that was made.
    const dialled = new AbortController()
    const giveUp = (): void => dialled.abort(given.reason)
    const timer = setTimeout(() => dialled.abort(new DOMException('no answer', 'TimeoutError')), DIAL_MS_MAX)
    given.addEventListener('abort', giveUp, { once: true })
    dialling.add(dialled)
    try {
      const connection = await dial(target.address, { signal: dialled.signal })
      dialling.delete(dialled)
      if (answered) await connection.close().catch(() => undefined)
      answered = true
      for (const other of dialling) other.abort()
    } catch (cause) {
      dialling.delete(dialled)
      failures.set(target, { target, cause })
    } finally {
      clearTimeout(timer)
      given.removeEventListener('abort', giveUp)
    }
  }
  const running: Promise<void>[] = []
  const direct = targets.filter(({ text }) => !isRelayed(text))
  const relayed = targets.filter(({ text }) => isRelayed(text))
  for (const target of [...direct, ...relayed]) {
    if (answered || given.aborted) break
    if (target === relayed[0]) await within(RELAYED_AFTER_MS, Promise.all(running))
    if (answered || given.aborted) break
    const run = one(target)
    running.push(run)
    await within(APART_MS, run)
  }
  await Promise.all(running)
  if (answered) return undefined
  given.throwIfAborted()
  return targets.flatMap((target) => failures.get(target) ?? [])
}
