import type { Command } from 'commander'
import { examples, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { choiceOf, SIM_EXIT_HELP, study, studyOptions } from '../tasks/simulations.ts'

const SEEDS = 5

export function define(command: Command, run: (verb: Verb) => void): void {
  command.argument('<scenarios...>', 'two or more YAML files, or names of those that come with talko')
  studyOptions(command, SEEDS)
  command.addHelpText(
    'after',
    examples(
      'talko sim compare now.yaml proposed.yaml --seeds 10',
      'talko sim compare now.yaml proposed.yaml --hosts 2000 --html compared.html',
      'Each is run on the same seeds. ± holds the true mean 95 times in 100; * marks a difference from the first that is clear of chance.',
      SIM_EXIT_HELP
    )
  )
  run(async (context, files, options) => {
    if (files.length < 2) throw new ClientError('usage', '2 scenarios or more are compared; `talko sim run` runs one, `talko sim sweep` one in several ways')
    const { planComparison } = await import('#sim/main')
    return await study(context, await planComparison(files, choiceOf(options)), options)
  })
}
