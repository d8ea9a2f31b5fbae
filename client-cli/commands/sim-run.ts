import type { Command } from 'commander'
import { examples, type Verb } from '../command.ts'
import { choiceOf, SIM_EXIT_HELP, study, studyOptions } from '../tasks/simulations.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('<scenario>', 'a YAML file, or the name of one that comes with talko (see talko sim list)')
  studyOptions(command, 1)
  command.addHelpText(
    'after',
    examples(
      'talko sim run normal-month --html month.html',
      'talko sim run liars --hosts 500 --set length=2d -o json',
      'talko sim run ./mine.yaml --seed 7 --set policy.quorum=3 --csv mine.csv',
      'talko sim run million --dry-run',
      SIM_EXIT_HELP
    )
  )
  run(async (context, [file = ''], options) => {
    const { planRun } = await import('#sim/main')
    return await study(context, await planRun(file, choiceOf(options)), options)
  })
}
