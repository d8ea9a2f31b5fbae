/** Prints in one line of JSON what the protocol level does with so many nodes, beside the bare engine in the same process. For the benchmark. */
import { Engine } from '../engine/engine.ts'
import { crowd, crowdBytes } from './crowd.ts'

export interface AgentsMeasure {
  /** Events a second with real nodes, a task each ten minutes a node. */
  readonly rate: number
  /** Of the engine alone: each event is a timer, and resolves one promise that somebody waits for. */
  readonly bareRate: number
  readonly nodeBytes: number
  readonly serverBytes: number
}

const TASKS_A_MINUTE = 0.1
const BARE_EVENTS = 2_000_000

if (import.meta.main) {
  const agents = Number(process.argv[2])
  const { node, server } = await crowdBytes(agents)
  const bareRate = await bare(agents)
  const { rate } = await crowd(agents, TASKS_A_MINUTE)
  const measure: AgentsMeasure = { rate, bareRate, nodeBytes: node, serverBytes: server }
  console.log(JSON.stringify(measure))
}

/** As many timers as nodes, each planned anew by who waited for it. */
async function bare(timers: number): Promise<number> {
  const engine = new Engine()
  const live = async (first: number): Promise<void> => {
    for (let ms = first; ; ms = 1_000) await new Promise<void>((resolve) => engine.after(ms, resolve))
  }
  for (let timer = 0; timer < timers; timer++) void live(timer % 1_000)
  const began = performance.now()
  await engine.run(Math.round((BARE_EVENTS / timers) * 1_000))
  return Math.round((engine.events / (performance.now() - began)) * 1_000)
}
