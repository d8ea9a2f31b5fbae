import type { Command } from 'commander'
import { pairIn } from '../client/units.ts'
import { examples, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { choiceOf, SIM_EXIT_HELP, study, studyOptions } from '../tasks/simulations.ts'

const SEEDS = 3

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<scenario>', 'a YAML file, or the name of one that comes with talko')
    .requiredOption('--over <key=value,value…>', 'the key to change, and the values that it takes')
  studyOptions(command, SEEDS)
  command.addHelpText(
    'after',
    examples(
      'talko sim sweep liars --over policy.quorum=1,2,3 --hosts 1000',
      "talko sim sweep normal-month --over 'population.liars.share=0 %,5 %,10 %' --seeds 10 --html liars.html",
      "talko sim sweep normal-month --over 'population.mix={ seti: 100 % },{ seti: 50 %, diurnal: 50 % }'   # no comma within brackets or quotes ends a value",
      SIM_EXIT_HELP
    )
  )
  run(async (context, [file = ''], options) => {
    const over = text(options, 'over') ?? ''
    const [key, values] = pairIn(over) ?? []
    if (key === undefined || values === undefined) throw new ClientError('usage', `--over ${over}: key=value,value is expected, such as policy.quorum=1,2,3`)
    const { planSweep } = await import('#sim/main')
    const plan = await planSweep(file, key, valuesIn(values), choiceOf(options))
    return await study(context, plan, options)
  })
}

/** What stands between commas, but for those in brackets or quotes: a value may be a list or a map. */
function valuesIn(text: string): readonly string[] {
  const values = ['']
  let [depth, quote] = [0, '']
  for (const character of text) {
    if (character === ',' && depth === 0 && quote === '') {
      values.push('')
      continue
    }
    values[values.length - 1] += character
    if (quote !== '') quote = character === quote ? '' : quote
    else if (character === '"' || character === "'") quote = character
    else if ('[{'.includes(character)) depth++
    else if (']}'.includes(character)) depth--
  }
  return values.map((value) => value.trim())
}
