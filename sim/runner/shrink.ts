/** Makes a failing case small: fewer faults, nodes, tasks and a shorter time, as long as it fails in the same way. */
import type { Case } from '../faults/case.ts'

export interface ShrinkPorts {
  /** What is wrong with a case; undefined when nothing is. */
  readonly run: (one: Case) => Promise<string | undefined>
  /** Attempts in all. */
  readonly runsMax: number
}

/** The kind of a complaint: without the names and numbers in it. */
export function kindOf(complaint: string): string {
  return complaint
    .replace(/12D3\w+/g, 'somebody')
    .replace(/[a-z2-7]{26}[.\d]*/g, 'it')
    .replace(/(?:node|fresh|hostile) \d+/g, 'somebody')
    .replace(/[:{].*/s, '')
    .replace(/\d+/g, 'n')
}

/** The smallest case found that fails as `complaint` says. */
export async function shrink(one: Case, complaint: string, { run, runsMax }: ShrinkPorts): Promise<Case> {
  const kind = kindOf(complaint)
  let smallest = one
  let runs = 0
  const take = async (smaller: Case): Promise<boolean> => {
    if (++runs > runsMax) return false
    const said = await run(smaller)
    if (said === undefined || kindOf(said) !== kind) return false
    smallest = smaller
    return true
  }
  for (let before = -1; before !== sizeOf(smallest) && runs < runsMax; ) {
    before = sizeOf(smallest)
    await fewer(smallest.faults, (faults) => take({ ...smallest, faults }))
    if (smallest.hostile > 0) await take({ ...smallest, hostile: 0 })
    for (const [index, { tasks }] of smallest.batches.entries())
      await fewer(tasks, (kept) => take({ ...smallest, batches: smallest.batches.map((batch, at) => (at === index ? { ...batch, tasks: kept } : batch)) }))
    for (const [index, node] of smallest.nodes.entries())
      if (node.joinsMs >= 0) await take({ ...smallest, nodes: smallest.nodes.map((other, at) => (at === index ? { ...node, joinsMs: -1 } : other)) })
    for (const share of [0.25, 0.5, 0.75]) if (await take({ ...smallest, faultsMs: Math.round(smallest.faultsMs * share) })) break
  }
  return smallest
}

function sizeOf({ faults, nodes, batches, hostile, faultsMs }: Case): number {
  return faults.length + nodes.filter(({ joinsMs }) => joinsMs >= 0).length + batches.reduce((sum, { tasks }) => sum + tasks.length, 0) + hostile + faultsMs
}

/** Delta debugging: leaves out ever smaller parts of a list. */
async function fewer<T>(list: readonly T[], fails: (kept: readonly T[]) => Promise<boolean>): Promise<void> {
  let kept = list
  for (let size = Math.ceil(list.length / 2); size >= 1; ) {
    let left = false
    for (let at = 0; at < kept.length; ) {
      const without = [...kept.slice(0, at), ...kept.slice(at + size)]
      if (await fails(without)) {
        kept = without
        left = true
      } else at += size
    }
    if (size === 1 && !left) return
    size = size === 1 ? 1 : Math.ceil(size / 2)
  }
}
