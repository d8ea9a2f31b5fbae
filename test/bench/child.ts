/** Programs of benchmarks: a measurement in a process of its own, which prints one line of JSON, so that nothing that ran before has warmed it up or filled its memory; and one that is told what to do. */
import { type ChildProcess, execFile } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { type BenchContext, median, ROUNDS_MIN } from './runner.ts'

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

/** The next message of a forked program. Rejects when it ends before. */
export async function nextMessage<Message>(program: ChildProcess): Promise<Message> {
  const ended = new AbortController()
  const exited = once(program, 'exit', { signal: ended.signal }).then(([code, signal]) => {
    throw new Error(`${program.spawnargs.slice(1).join(' ')} ended with ${code ?? signal} before it said anything`)
  })
  exited.catch(() => undefined)
  try {
    const [message] = await Promise.race([once(program, 'message', { signal: ended.signal }), exited])
    return message
  } finally {
    ended.abort()
  }
}
