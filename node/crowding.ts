/**
 * What a run has of the processors when as many run as there are cores, and when more do: slots beyond the cores help where
 * runs wait for something, and where they compute they only share. It is measured, so that nobody has to guess. Pure.
 */
import type { Ended, Executor } from './ports.ts'

/** Of the runs that ended so: how many they were, and how many processors each had on the average, in hundredths. */
export interface ShareView {
  readonly runs: number
  readonly processorsEach: number
}

export interface CrowdingView {
  readonly cores: number
  /** At no moment of them more went on than there are cores. */
  readonly upToCores?: ShareView
  readonly beyondCores?: ShareView
}

interface Sum {
  runs: number
  ms: number
  cpuMs: number
}

/** A run that goes on; `most`: how many went on at once so far. */
interface Going {
  most: number
}

export class Crowding {
  readonly #cores: number
  readonly #going = new Set<Going>()
  readonly #upToCores: Sum = { runs: 0, ms: 0, cpuMs: 0 }
  readonly #beyondCores: Sum = { runs: 0, ms: 0, cpuMs: 0 }

  constructor(cores: number) {
    this.#cores = cores
  }

  begin(): Going {
    const one = { most: 0 }
    this.#going.add(one)
    for (const going of this.#going) going.most = Math.max(going.most, this.#going.size)
    return one
  }

  /** Without `ended` it broke, or was never started, and nothing is known of it. */
  end(one: Going, ended?: Pick<Ended, 'startedAtMs' | 'endedAtMs' | 'cpuMs'>): void {
    if (!this.#going.delete(one) || ended === undefined) return
    const sum = one.most > this.#cores ? this.#beyondCores : this.#upToCores
    sum.runs++
    sum.ms += Math.max(0, ended.endedAtMs - ended.startedAtMs)
    sum.cpuMs += ended.cpuMs
  }

  view(): CrowdingView {
    const [upToCores, beyondCores] = [shareOf(this.#upToCores), shareOf(this.#beyondCores)]
    return { cores: this.#cores, ...(upToCores === undefined ? {} : { upToCores }), ...(beyondCores === undefined ? {} : { beyondCores }) }
  }
}

/** The same executor, whose runs are counted. Those of an earlier life of the node take their share as others do. */
export function counted(executor: Executor, crowding: Crowding): Executor {
  return new Proxy(executor, {
    get(target, name) {
      if (name === 'start') return async (...args: Parameters<Executor['start']>) => follow(() => target.start(...args), crowding)
      if (name === 'recover')
        return async (...args: Parameters<Executor['recover']>) => {
          const found = await target.recover(...args)
          await Promise.all([...found.values()].map((running) => follow(async () => running, crowding)))
          return found
        }
      const own: unknown = Reflect.get(target, name)
      return typeof own === 'function' ? own.bind(target) : own
    }
  })
}

async function follow<R extends { readonly ended: Promise<Ended> }>(start: () => Promise<R>, crowding: Crowding): Promise<R> {
  const one = crowding.begin()
  try {
    const running = await start()
    running.ended.then(
      (ended) => crowding.end(one, ended),
      () => crowding.end(one)
    )
    return running
  } catch (error) {
    crowding.end(one)
    throw error
  }
}

function shareOf({ runs, ms, cpuMs }: Sum): ShareView | undefined {
  return ms === 0 ? undefined : { runs, processorsEach: Math.round((100 * cpuMs) / ms) / 100 }
}
