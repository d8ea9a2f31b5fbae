import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { EXIT } from '../errors.ts'
import { printable } from '../output/text.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('[dir]', "the node's folder (default: node, in your home folder of talko)")
    .addHelpText(
      'after',
      `${examples('talko node doctor', 'talko node doctor /srv/talko -o json')}\nExit status: 0 when the node can take work, 6 when the project cannot be reached, 4 when something else is to be mended.\n`
    )
  run(doctor)
}

const MARKS = { ok: 'ok  ', note: 'note', bad: 'BAD ' } as const

async function doctor(context: Context, [dir]: readonly string[]): Promise<number> {
  const { io } = context
  const [{ examine }, { nodeDir }] = await Promise.all([import('#node/main'), import('../live/node-control.ts')])
  const examined = await examine(nodeDir(dir, context.home))
  if (io.json) io.outJson(examined)
  else
    for (const { what, state, says, todo } of examined.findings) {
      io.out(`${MARKS[state]} ${what.padEnd(8)} ${printable(says)}`)
      if (todo !== '') io.out(`              ${printable(todo)}`)
    }
  if (!examined.reached) return EXIT.unreachable
  return examined.findings.some(({ state }) => state === 'bad') ? EXIT.refused : EXIT.ok
}
