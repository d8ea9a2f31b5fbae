/**
 * The protocol level of the simulator with 10,000 real nodes: how many events a second, beside the same engine with nothing but one
 * promise an event, and what a node takes beside what the project server has of it.
 */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { AgentsMeasure } from '../../sim/runner/agents.ts'
import { type BenchContext, type BenchLine, benchLine, median, ROUNDS_MIN } from './runner.ts'

const AGENTS = 10_000
const PROGRAM = fileURLToPath(new URL('../../sim/runner/agents.ts', import.meta.url))
const KIB = 1024
const program = promisify(execFile)

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const rounds: AgentsMeasure[] = []
  for (let round = 0; round < Math.max(context.rounds, ROUNDS_MIN); round++) {
    const { stdout } = await program(process.execPath, ['--max-semi-space-size=64', PROGRAM, String(AGENTS)])
    const measured: AgentsMeasure = JSON.parse(stdout)
    context.log(`${measured.rate} events/s, bare engine ${measured.bareRate}; ${measured.nodeBytes} bytes a node, ${measured.serverBytes} at the server`)
    rounds.push(measured)
  }
  const middle = (of: (one: AgentsMeasure) => number): number => median(rounds.map(of))
  return [
    benchLine({
      name: `simulated protocol, ${AGENTS} nodes, events`,
      value: middle(({ rate }) => rate),
      unit: 'events/s',
      peer: 'its engine alone, one promise an event',
      peerValue: middle(({ bareRate }) => bareRate),
      must: 'value >= 100000'
    }),
    benchLine({
      name: `simulated protocol, ${AGENTS} nodes, memory a node`,
      value: middle(({ nodeBytes }) => nodeBytes) / KIB,
      unit: 'KiB',
      peer: 'what the project server itself has of a node',
      peerValue: middle(({ serverBytes }) => serverBytes) / KIB,
      must: 'value <= 4'
    })
  ]
}
