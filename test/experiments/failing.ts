/**
 * The experiment `attempts` on this machine: real nodes, and tasks whose processes are killed by a draw of their own. A status
 * that is not 0 would be an answer, which no other node is asked for again (F08); a process that something ended from outside
 * is a failed attempt.
 */
import { createHash } from 'node:crypto'
import { type AttemptsSetup, attemptsFigure, attemptsPolicy, type SuccessFigure } from '../../sim/experiments/figures.ts'
import type { PlayedTask } from '../../sim/experiments/play.ts'
import { endsOf, type LiveNetwork, liveNetwork } from './live.ts'

/** A task goes to no node again that failed at it: so many attempts need so many nodes. */
const NODES_MIN = 2
/** Of 2^32 the draw is a part. */
const DRAWS = 2 ** 32
/** Nothing is run again but what has failed, nobody is set aside for failing, and no batch is held for it. */
const PROJECT = { stragglerFactor: 0, idleCopies: 0, failuresMax: Number.POSITIVE_INFINITY, failingMin: 0 }
/**
 * $DRAW says which task of which experiment; the folder of a run is called BATCH.INDEX.ATTEMPT. The first 32 bits of the hash
 * are the draw: below $FAILS the process and the shell above it are killed before it has ended. All of them sleep as long.
 */
const COMMAND = `run=\${HOME##*/}; hash=$(printf %s "$DRAW \${run##*.}" | sha256sum); sleep "$SLEEP"; [ $((0x\${hash%%\${hash#????????}})) -ge "$FAILS" ] || kill -KILL 0; echo done`

export interface Attempted {
  readonly figure: SuccessFigure
  /** Of each number of attempts: tasks that the draws of their own let through. What came of them must be just that. */
  readonly drawn: readonly number[]
}

export async function liveAttempts(setup: AttemptsSetup, seed: number, tell: (line: string) => void): Promise<Attempted> {
  const nodes = Math.max(NODES_MIN, ...setup.attempts)
  const network = await liveNetwork(nodes, Math.ceil(setup.clients / nodes), PROJECT)
  const drawn: number[] = []
  try {
    const figure = await attemptsFigure({ ...setup, clients: nodes * Math.ceil(setup.clients / nodes) }, async (attempts) => {
      const played = await run(network, { ...setup, attempts, seed })
      drawn.push(Array.from({ length: setup.tasks }, (_, index) => index).filter((index) => comesThrough({ ...setup, attempts, seed }, index)).length)
      tell(
        `${attempts} ${attempts === 1 ? 'attempt' : 'attempts'}: ${played.filter(({ ready }) => ready).length} of ${setup.tasks} ready, ${drawn.at(-1)} by their draws`
      )
      return played
    })
    return { figure: { ...figure, title: `${figure.title}: live, with real processes` }, drawn }
  } finally {
    await network.close()
  }
}

interface Experiment {
  readonly tasks: number
  readonly fails: number
  readonly taskMs: number
  readonly attempts: number
  readonly seed: number
}

async function run({ client }: LiveNetwork, one: Experiment): Promise<readonly PlayedTask[]> {
  const environment = { SLEEP: (one.taskMs / 1000).toFixed(3), FAILS: String(Math.round(one.fails * DRAWS)) }
  const specs = Array.from({ length: one.tasks }, (_, index) => ({
    command: ['sh', '-c', COMMAND],
    engine: 'process' as const,
    environment: { ...environment, DRAW: nameOf(one, index) }
  }))
  const prepared = await client.prepare(specs)
  const beganMs = Date.now()
  const batch = await client.submit(prepared, { policy: { ...attemptsPolicy(one.attempts), copies: 'never' } })
  return await endsOf(client, batch, { submittedMs: 0, beganMs })
}

function nameOf({ seed, attempts }: Experiment, index: number): string {
  return `${seed} ${attempts} ${index}`
}

function comesThrough(one: Experiment, index: number): boolean {
  const drawOf = (attempt: number): number =>
    createHash('sha256')
      .update(`${nameOf(one, index)} ${attempt}`)
      .digest()
      .readUInt32BE(0)
  return Array.from({ length: one.attempts }, (_, before) => drawOf(before + 1)).some((draw) => draw >= Math.round(one.fails * DRAWS))
}
