import type { Command } from 'commander'
import { QUERY_ROWS_MAX } from '#protocol/owner/messages'
import { type Context, examples, flag, text, type Verb } from '../command.ts'
import { ClientError } from '../errors.ts'
import { creditTable, ownerCreditTable } from '../tasks/credit.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .option('--owners', 'by owner: what nodes earned while they were its own')
    .option('-n, --limit <number>', 'at most so many', '100')
    .addHelpText(
      'after',
      examples('talko credit list', 'talko credit list --owners', 'talko credit list -n 1000 -o json') +
        '\n1 credit is one second of one processor, of work that others confirmed; an early return adds to it where a task has a deadline.\n' +
        '-o json counts thousandths.\n'
    )
  run(list)
}

async function list(context: Context, _args: readonly string[], options: Readonly<Record<string, unknown>>): Promise<undefined> {
  const { io, signal } = context
  const limit = Number(text(options, 'limit'))
  if (!Number.isInteger(limit) || limit < 1 || limit > QUERY_ROWS_MAX) throw new ClientError('usage', `--limit is a number from 1 to ${QUERY_ROWS_MAX}`)
  const owners = flag(options, 'owners')
  const rows = await (await context.client()).credit(owners ? 'owners' : 'nodes', limit, { signal })
  if (io.json) io.outJson(rows)
  else for (const line of owners ? ownerCreditTable(rows) : creditTable(rows)) io.out(line)
}
