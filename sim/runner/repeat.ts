/** A case that a failure left, of whichever level, run again. */
import { runApart } from '../stack/apart.ts'
import type { AnyCase } from './case-file.ts'
import { run } from './run.ts'
import { stackStoryOf, storyOf } from './story.ts'

export interface Repeated {
  readonly complaint: string | null
  readonly hash: string
  readonly events: number
  readonly story: string
}

export async function repeat(one: AnyCase): Promise<Repeated> {
  if (one.level === 'stack') {
    const ran = await runApart(one.case)
    return { complaint: ran.complaint, hash: ran.hash, events: ran.events, story: stackStoryOf(one.case, ran) }
  }
  const ran = await run(one.case)
  return { complaint: ran.complaint ?? null, hash: ran.hash, events: ran.events, story: storyOf(one.case, ran) }
}
