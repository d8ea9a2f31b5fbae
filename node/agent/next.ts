/**
 * What the project says that it is likely to lease this node next (S20): its content is brought here while other replicas
 * run, and stays at least as long as the project says so. It is no lease: nothing of it is written down, told or run, and
 * what cannot be brought is only not here yet when its lease comes.
 */
import type { RunManifest } from '#protocol/bundle/manifest'
import { NEXT_MAX } from '#protocol/control/messages'
import type { NextBundle, Prompt } from './events.ts'
import type { State } from './state.ts'

const PREFIX = 'next/'

/** Under what the stock knows who needs a tree: no replica is called so. */
export function nextUser(bundle: string): string {
  return PREFIX + bundle
}

export class Next {
  #bundles: Map<string, RunManifest> | undefined

  get size(): number {
    return this.#bundles?.size ?? 0
  }

  /** Whether it stands for what is next here. */
  isUser(user: string): boolean {
    return user.startsWith(PREFIX) && this.#bundles?.has(user.slice(PREFIX.length)) === true
  }

  /** In place of what was next: what has to be begun and what to be given up. */
  set(bundles: readonly NextBundle[]): Prompt[] {
    const next = new Map(bundles.slice(0, NEXT_MAX).map(({ bundle, manifest }) => [bundle, manifest]))
    const before = this.#bundles
    const prompts: Prompt[] = []
    for (const bundle of before?.keys() ?? []) if (!next.has(bundle)) prompts.push({ kind: 'let_go', bundle })
    for (const [bundle, manifest] of next) if (before?.has(bundle) !== true) prompts.push({ kind: 'bring', bundle, manifest })
    this.#bundles = next.size === 0 ? undefined : next
    return prompts
  }
}

/** The project names what is next here, all of it. */
export function setNext(state: State, bundles: readonly NextBundle[]): void {
  if (bundles.length > 0) state.coming ??= new Next()
  for (const prompt of state.coming?.set(bundles) ?? []) {
    if (prompt.kind === 'let_go') state.stock?.unused(nextUser(prompt.bundle))
    state.prompt(prompt)
  }
  if (state.coming?.size === 0) state.coming = undefined
}
