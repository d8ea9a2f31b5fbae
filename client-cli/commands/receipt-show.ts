import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { printable } from '../output/text.ts'
import { checkReceipt, findReceipt, readReceipt, receiptJson, receiptLines } from '../tasks/receipts.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<id>', 'a decided task, or a saved receipt')
    .addHelpText('after', examples('talko receipt show k3vq.0', 'talko receipt show k3vq.0.receipt -o json'))
  run(async (context: Context, [of = '']) => {
    const { io } = context
    const signed = await findReceipt(context, of)
    const receipt = readReceipt(signed)
    const check = checkReceipt(signed)
    if (io.json) io.outJson(receiptJson(receipt, signed, check))
    else {
      for (const line of receiptLines(receipt, signed)) io.out(line)
      for (const { node, output, exitCode } of check.results ?? []) io.out(`agreed by  ${node}: exit status ${exitCode}, output ${output}`)
      for (const { node, vote } of receipt.dissent) io.out(`dissent    ${printable(node)}: ${printable(vote)}`)
    }
    return undefined
  })
}
