import type { Command } from 'commander'
import { examples, type Verb } from '../command.ts'
import { formatTable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command.addHelpText('after', examples('talko sim list', 'talko sim run slow-tail --html tail.html'))
  run(async ({ io }) => {
    const { shipped } = await import('#sim/main')
    const scenarios = await shipped()
    if (io.json) io.outJson(scenarios)
    else
      for (const line of formatTable(
        ['SCENARIO', 'HOSTS', 'DAYS', 'QUESTION'],
        scenarios.map(({ file, hosts, days, question }) => [file, String(hosts), String(days), question])
      ))
        io.out(line)
    return undefined
  })
}
