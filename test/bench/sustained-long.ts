/** The same for ten minutes (Z02), only when asked for. */
import type { BenchContext, BenchLine } from './runner.ts'
import { sustain } from './sustained.ts'

export function run(context: BenchContext): Promise<BenchLine[]> {
  return sustain(context, 600)
}
