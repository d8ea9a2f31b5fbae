import type { Command } from 'commander'
import { type Context, examples, type Verb } from '../command.ts'
import { ledgerLine } from '../tasks/credit.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  const shown = examples('talko credit save ledger.jsonl', 'talko credit check ledger.jsonl')
  command.argument('<file>', 'a new file; a line for each signed page').addHelpText('after', `${shown}\nOnly the administrator of a project gets its ledger.\n`)
  run(save)
}

async function save(context: Context, [path = '']: readonly string[]): Promise<undefined> {
  const { io, signal } = context
  const { open } = await import('node:fs/promises')
  const client = await context.client()
  const file = await open(path, 'wx')
  let pages = 0
  try {
    for await (const page of client.ledger({ signal })) {
      await file.write(ledgerLine(page))
      pages++
    }
  } finally {
    await file.close()
  }
  if (io.json) io.outJson({ file: path, pages })
  else {
    io.out(path)
    io.say(`${pages} pages; talko credit check ${path}`)
  }
}
