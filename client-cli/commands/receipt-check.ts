import type { Command } from 'commander'
import { isPeerId, parseInvite } from '../client/invite.ts'
import { type Context, examples, type Verb } from '../command.ts'
import { EXIT } from '../errors.ts'
import { printable } from '../output/text.ts'
import { checkReceipt, findReceipt, readReceipt, receiptJson } from '../tasks/receipts.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<ids...>', 'saved receipts (checked without any network), or decided tasks')
    .addHelpText(
      'after',
      examples(
        'talko receipt check k3vq.0.receipt',
        'talko receipt check receipts/*.receipt',
        'talko receipt check k3vq.0.receipt --project 12D3Koo…   # and it must be that project’s',
        'talko receipt check k3vq.0'
      )
    )
  run(check)
}

async function check(context: Context, ids: readonly string[]): Promise<number> {
  const { io, project } = context
  const expect = project === undefined ? {} : { project: isPeerId(project) ? project : parseInvite(project).project }
  const answers: object[] = []
  let bad = 0
  for (const id of ids) {
    const signed = await findReceipt(context, id)
    const result = checkReceipt(signed, expect)
    if (!result.ok) bad++
    if (io.json) answers.push(receiptJson(readReceipt(signed), signed, result))
    else if (!result.ok) io.say(io.bad(`${id}: not to be believed: ${printable(result.lines.at(-1) ?? 'unknown reason')}`))
    else if (ids.length > 1) io.out(`${id}: ok, ${printable(result.lines.at(-1) ?? '')}`)
    else for (const line of [...result.lines, 'ok']) io.out(printable(line))
  }
  if (io.json) io.outJson(ids.length === 1 ? answers[0] : answers)
  if (bad > 0) io.say(`talko: ${bad} of ${ids.length} receipts are not to be believed; ask the project for them again (talko receipt save)`)
  return bad === 0 ? EXIT.ok : EXIT.refused
}
