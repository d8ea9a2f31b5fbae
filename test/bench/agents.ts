/**
 * The protocol level of the simulator with 10,000 real nodes: how many events a second, beside the same engine with nothing but one
 * promise an event, and what a node takes beside what the project server has of it.
 */
import { fileURLToPath } from 'node:url'
import { SIM_FLAGS } from '../../sim/flags.ts'
import type { AgentsMeasure } from '../../sim/runner/agents.ts'
import { child, medians } from './child.ts'
import { type BenchContext, type BenchLine, benchLine } from './runner.ts'

const AGENTS = 10_000
const PROGRAM = fileURLToPath(new URL('../../sim/runner/agents.ts', import.meta.url))
const KIB = 1024

export async function run(context: BenchContext): Promise<BenchLine[]> {
  const middle = await medians(
    context,
    () => child<AgentsMeasure>(PROGRAM, SIM_FLAGS, [AGENTS]),
    ({ rate, bareRate, nodeBytes, serverBytes }) => `${rate} events/s, bare engine ${bareRate}; ${nodeBytes} bytes a node, ${serverBytes} at the server`
  )
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
