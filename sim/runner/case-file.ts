/** The small case that a failure leaves, as a file. */
import type { Case } from '../faults/case.ts'

/** Throws Error saying what is missing. */
export function parseCase(text: string): Case {
  const one: Partial<Case> | null = JSON.parse(text)
  const lists = [one?.nodes, one?.batches, one?.faults].every(Array.isArray)
  const numbers = [one?.seed, one?.hostile, one?.faultsMs].every(Number.isSafeInteger)
  if (!lists || !numbers) throw new Error('it lacks nodes, batches, faults, seed, hostile or faultsMs')
  return one as Case
}
