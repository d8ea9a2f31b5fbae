import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { AgentEvent, Effect, Prompt, Step } from './agent/events.ts'
import { Committer, type CommitterOwner, type CommitterPorts } from './commit.ts'
import type { NodeError } from './errors.ts'

const TICK: AgentEvent = { kind: 'tick' }
const PROMPT: Prompt = { kind: 'disconnect', message: '' }
const EFFECT: Effect = { kind: 'ack', seq: 1 }
const NOTHING: Step = { changes: [], prompts: [], effects: [] }

/** A committer over a core that gives out these prompts and then these steps, and the order of what happened. */
function committer(
  steps: Step[],
  prompts: (readonly Prompt[])[] = [],
  { store, ...owner }: Partial<CommitterOwner> & Partial<Pick<CommitterPorts, 'store'>> = {}
): { readonly committer: Committer; readonly log: string[] } {
  const log: string[] = []
  const made = new Committer(
    { apply: ({ kind }) => void log.push(kind), takePrompts: () => prompts.shift() ?? [], take: () => steps.shift() ?? NOTHING },
    { store: store ?? { batch: async (changes) => void log.push(`commit ${changes.length}`) }, clock: { nowMs: () => 0 }, breath: () => Promise.resolve() },
    {
      prompt: () => void log.push('prompt'),
      carryOut: (effects) => void log.push(`effects ${effects.length}`),
      fatal: ({ code }) => void log.push(`fatal ${code}`),
      ...owner
    }
  )
  return { committer: made, log }
}

const CHANGE = { key: 'a', value: new Uint8Array(1) }

describe('the group commit of the node', () => {
  it('commits what came in one breath together, before any effect', async () => {
    const { committer: made, log } = committer([{ changes: [CHANGE, CHANGE], prompts: [], effects: [EFFECT] }])
    made.apply(TICK)
    made.apply(TICK)
    await made.stop()
    assert.deepEqual(log, ['tick', 'tick', 'commit 2', 'effects 1'])
  })

  it('joins to a commit what a prompt answers at once', async () => {
    const steps: Step[] = [{ changes: [CHANGE, CHANGE], prompts: [], effects: [EFFECT] }]
    const { committer: made, log } = committer(steps, [[PROMPT]], {
      prompt: () => {
        log.push('prompt')
        made.apply(TICK)
      }
    })
    made.apply(TICK)
    await made.stop()
    assert.deepEqual(log, ['tick', 'prompt', 'tick', 'commit 2', 'effects 1'])
  })

  it('stops when it cannot write, and lets no effect out', async () => {
    const failed = Promise.withResolvers<NodeError>()
    const { committer: made, log } = committer([{ changes: [CHANGE], prompts: [], effects: [EFFECT] }], [], {
      store: { batch: () => Promise.reject(new Error('no space left on device')) },
      fatal: failed.resolve
    })
    made.apply(TICK)
    const error = await failed.promise
    assert.equal(error.code, 'storage')
    assert.match(error.message, /no space left/)
    made.apply(TICK)
    assert.deepEqual(log, ['tick'])
  })
})
