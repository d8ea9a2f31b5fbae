import type { Command } from 'commander'
import { LedgerReplay } from '#protocol/credit/ledger'
import { isPeerId, parseInvite } from '../client/invite.ts'
import { type Context, examples, flag, type Verb } from '../command.ts'
import { EXIT } from '../errors.ts'
import { printable } from '../output/text.ts'
import { ledgerIn, totalRows, totalTable } from '../tasks/credit.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<file>', 'a ledger that `talko credit save` wrote')
    .option('--owners', 'sums by owner')
    .addHelpText(
      'after',
      examples('talko credit check ledger.jsonl', 'talko credit check ledger.jsonl --project 12D3Koo…   # and it must be that project’s') +
        '\nChecks every signature, that no page is missing or was exchanged, and that nobody is paid twice for one task; then adds all entries up.\n' +
        'Pages that were cut off at the end are not missed: compare the number of pages with that of the project.\n'
    )
  run(check)
}

async function check({ io, project }: Context, [path = '']: readonly string[], options: Readonly<Record<string, unknown>>): Promise<number> {
  const replay = new LedgerReplay(project === undefined ? '' : isPeerId(project) ? project : parseInvite(project).project)
  let fault: string | undefined
  for await (const page of ledgerIn(path)) {
    fault = replay.add(page)
    if (fault !== undefined) break
  }
  const { sums } = replay
  const owners = flag(options, 'owners')
  if (io.json) {
    const { pages, entries } = sums
    io.outJson({
      ok: fault === undefined,
      ...(fault === undefined ? {} : { fault }),
      project: sums.project,
      pages,
      entries,
      nodes: totalRows(sums.nodes),
      owners: totalRows(sums.owners)
    })
  } else if (fault === undefined) {
    for (const line of totalTable(owners ? 'OWNER' : 'NODE', totalRows(owners ? sums.owners : sums.nodes))) io.out(line)
    io.say(`ok: ${sums.entries} entries on ${sums.pages} pages, all signed by project ${printable(sums.project)}`)
  } else io.say(io.bad(`${path}: not to be believed: ${printable(fault)}`))
  return fault === undefined ? EXIT.ok : EXIT.refused
}
