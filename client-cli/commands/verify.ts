import type { Command } from 'commander'
import { decodeManifest } from '#protocol/bundle/manifest'
import { type Context, examples, type Verb } from '../command.ts'
import { ClientError, EXIT } from '../errors.ts'
import { printable } from '../output/text.ts'
import { differenceLines, isSame, runOn, twoSets } from '../tasks/self-test.ts'
import { outcome } from '../tasks/waiting.ts'

export function define(command: Command, run: (verb: Verb) => void): void {
  command
    .argument('<task>', 'a decided task')
    .addHelpText('after', examples('talko verify k3vq.0', 'talko verify k3vq.0 && talko receipt check k3vq.0'))
    .addHelpText('after', "Exit status: 0 both runs left the same as was agreed on, or what the task's --compare allows, 5 one did not.")
  run(verify)
}

/** Runs a decided task's bundle on two nodes more, others than those that agreed while there are such. */
async function verify(context: Context, [id = '']: readonly string[]): Promise<number> {
  const { io, signal } = context
  const client = await context.client()
  const task = await client.task(id, { signal })
  if (task.status !== 'ready') throw new ClientError('refused', `task ${task.id} is ${task.status}: only what was agreed on can be verified`)
  const { manifest } = await client.receipt(task.id, { signal })
  const { engine, compareStdout } = decodeManifest(manifest)
  const agreed = new Set((task.replicas ?? []).filter(({ verdict }) => verdict === 'valid').map(({ node }) => node))
  const sets = twoSets(await client.nodes({ signal }), engine, agreed)
  const again = await Promise.all(sets.map((nodes) => runOn(context, client, manifest, { nodes, policy: {}, name: 'verify' })))
  let good = 0
  const answers: object[] = []
  for (const run of again) {
    const found = run.status === 'ready' ? await client.difference(task.id, run.id, { signal }) : undefined
    const same = found !== undefined && isSame(found, compareStdout)
    if (same) good++
    if (io.json) answers.push({ task: run.id, status: run.status, same, ...found })
    else if (found === undefined) io.out(`${run.id}: ${outcome(run)}`)
    else for (const line of differenceLines(found, { a: task, b: run, compareStdout })) io.out(printable(line))
  }
  if (io.json) io.outJson({ of: task.id, output: task.output, same: good === again.length, runs: answers })
  else if (good === again.length) io.say(`reproduced on ${good} nodes: ${task.output}`)
  return good === again.length ? EXIT.ok : EXIT.noAgreement
}
