/** Programs of owners that compare outputs: they take their time, are at fault now and then, and sometimes the project's machine cannot run them. */
import { ComparatorError } from '#project-server/comparators'
import { cidOfBytes, DAG_CBOR } from '#protocol/content/cid'
import type { Process } from '../engine/process.ts'
import type { Random } from '../random.ts'
import { areNear } from './truth.ts'
import type { Witness } from './witness.ts'

/** A bundle that is never run here. */
export const COMPARATOR = { kind: 'program' as const, bundle: cidOfBytes(DAG_CBOR, new TextEncoder().encode('compares')).toString() }

const RUN_MS_MAX = 4_000
const BROKEN = 0.1
const NOT_NOW = 0.1

export interface ComparatorsPorts {
  readonly process: Process
  readonly random: Random
  readonly witness: Pick<Witness, 'see' | 'wrong'>
}

/** As one life of the server runs them. */
export class SimComparators {
  readonly #ports: ComparatorsPorts
  readonly #answered = new Set<string>()

  constructor(ports: ComparatorsPorts) {
    this.#ports = ports
  }

  /** What the program says of two outputs of the task of that name, by their roots. Asked of equal ones, or again of two that it answered about, it complains. */
  async agree(name: string, a: string, b: string): Promise<boolean> {
    const { process, random, witness } = this.#ports
    const pair = `${name}: ${[a, b].sort().join(' ')}`
    if (a === b) witness.wrong(`a program was asked whether ${a} is ${b}`)
    if (this.#answered.has(pair)) witness.wrong(`a program was asked again about ${pair}`)
    await new Promise<void>((resolve) => process.after(1 + random.below(RUN_MS_MAX), resolve))
    if (random.chance(NOT_NOW)) {
      witness.see('no comparator could be run')
      throw new ComparatorError('project', 'the engine does not answer')
    }
    if (random.chance(BROKEN)) {
      witness.see('a comparator was at fault')
      throw new ComparatorError('program', 'it ended with exit status 3')
    }
    this.#answered.add(pair)
    return areNear(name, a, b)
  }
}
