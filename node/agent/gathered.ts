/** What the events since the last step cause, until it is taken. Each step that causes something has its own: most of many nodes wait for nothing. */
import type { Signer } from '#protocol/signing/keys'
import type { Effect, Prompt } from './events.ts'
import { Outgoing } from './outgoing.ts'

export class Gathered {
  readonly effects: Effect[] = []
  /** Something numbered came: that is to be said. */
  owesAck = false
  #prompts: Prompt[] = []
  #outgoing: Outgoing | undefined

  prompt(prompt: Prompt): void {
    this.#prompts.push(prompt)
  }

  /** To be carried out before the step is taken. */
  takePrompts(): readonly Prompt[] {
    const prompts = this.#prompts
    this.#prompts = []
    return prompts
  }

  /** What the coordinator is to be told; undefined for nothing. */
  get outgoing(): Outgoing | undefined {
    return this.#outgoing
  }

  /** The same, to be added to. */
  say(signer: Pick<Signer, 'sign'>): Outgoing {
    this.#outgoing ??= new Outgoing(signer)
    return this.#outgoing
  }

  /** Who was to be told it knows nothing of this node any more. */
  unsay(): void {
    this.#outgoing = undefined
  }
}
