import type { Command } from 'commander'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { EXIT } from '../errors.ts'
import { DAY_MS, SIM_EXIT_HELP, simPorts, stoppedStatus } from '../tasks/simulations.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<file>', 'a report (JSON or HTML) of talko sim, or the case that a failure left')
    .option('--dry-run', 'say what would be run again, and run nothing')
    .addHelpText(
      'after',
      examples(
        'talko sim run normal-month --json month.json && talko sim replay month.json',
        'talko sim replay month.html',
        'talko sim replay /tmp/talko-sim-7.json         # the smallest case of a failure, as a story',
        'A report is run again from its own scenario, changes and seed; its hash must be the same.',
        SIM_EXIT_HELP
      )
    )
  run(replay)
}

async function replay(context: Context, [file = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number> {
  const { io, signal } = context
  const sim = await import('#sim/main')
  if (flag(options, 'dryRun')) {
    const lines = await sim.describeReplay(file)
    if (io.json) io.outJson({ dryRun: true, runs: lines })
    else for (const line of lines) io.say(`would run ${line}`)
    return EXIT.ok
  }
  context.endsItself()
  const replayed = await sim.replay(file, simPorts(context))
  io.progressEnd()
  if (io.json) io.outJson(replayed)
  if (replayed.kind === 'case') {
    if (!io.json) for (const line of [replayed.story, `hash ${replayed.hash}`]) io.out(line)
    return replayed.complaint === null ? EXIT.ok : EXIT.checkFailed
  }
  if (!io.json) {
    for (const { variant, seed, was, is, complaint } of replayed.runs)
      io.out(
        `${[variant, `seed ${seed}`].filter((one) => one !== '').join(', ')}: ${was === is ? `the same, hash ${is}` : `not the same: hash ${was} then, ${is} now`}${complaint === null ? '' : `; ${complaint}`}`
      )
    if (replayed.stopped !== null) {
      const { variant, seed, run, ofRuns, nowMs, untilMs } = replayed.stopped
      const which = [variant, `seed ${seed}`].filter((one) => one !== '').join(', ')
      io.out(`${which}: stopped in run ${run} of ${ofRuns}, at day ${(nowMs / DAY_MS).toFixed(2)} of ${(untilMs / DAY_MS).toFixed(2)}; its hash is not known`)
    }
    if (replayed.commit !== replayed.wasCommit) io.say(`it was run at commit ${replayed.wasCommit}; this is ${replayed.commit}`)
  }
  if (signal.aborted) return stoppedStatus(signal)
  return replayed.equal && replayed.runs.every(({ complaint }) => complaint === null) ? EXIT.ok : EXIT.checkFailed
}
