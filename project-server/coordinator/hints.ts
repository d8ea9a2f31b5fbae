/** What nodes that are away are told through others (protocol/hints): for the shell to send, and of no consequence here. */
import type { Batch, Task } from './model.ts'
import type { State } from './state.ts'

/** The task is over: who may run it still without being connected need not go on. */
export function hintOver(state: State, task: Task): void {
  for (const { id, node, state: at, granted } of task.replicas) {
    if (node.connected || node.state === 'left' || !granted || (at !== 'lost' && at !== 'cancelled')) continue
    state.out.effect({ kind: 'hint', what: task.state === 'killed' ? 'kill' : 'release', node: node.id, replicas: [id] })
  }
}

/** A batch came for nodes that were named, and some of them are not here. */
export function hintWork(state: State, { policy }: Batch): void {
  for (const id of policy.nodes) {
    const node = state.nodes.get(id)
    if (node !== undefined && !node.connected && node.state !== 'left') state.out.effect({ kind: 'hint', what: 'work', node: id, replicas: [] })
  }
}
