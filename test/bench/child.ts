/** A measurement in a process of its own, which prints one line of JSON: nothing that ran before has warmed it up or filled its memory. */
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { type BenchContext, median, ROUNDS_MIN } from './runner.ts'

/** The young generation that `npm run sim` has, too: larger ones are no faster and take the memory. */
export const SIM_FLAGS: readonly string[] = ['--max-semi-space-size=64']

export async function child<Answer>(program: string, flags: readonly string[], args: readonly (string | number)[]): Promise<Answer> {
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, program, ...args.map(String)])
  return JSON.parse(stdout) as Answer
}

/** Measures once a round, tells of each, and answers with what takes the median of a figure. */
export async function medians<Answer>(
  context: Pick<BenchContext, 'rounds' | 'log'>,
  measure: () => Promise<Answer>,
  tell: (one: Answer) => string
): Promise<(of: (one: Answer) => number) => number> {
  const rounds: Answer[] = []
  for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
    const measured = await measure()
    context.log(tell(measured))
    rounds.push(measured)
  }
  return (of) => median(rounds.map(of))
}
