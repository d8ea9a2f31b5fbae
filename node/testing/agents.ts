/** An agent and what happens to it, for the tests of its parts. */
import { decodeFrame, Frame } from '#protocol/control/messages'
import { Agent } from '../agent/agent.ts'
import type { AgentEvent, Step } from '../agent/events.ts'
import { resultOf } from '../agent/report.ts'
import type { AgentOptions, AgentSigner } from '../agent/state.ts'
import { ENDED, leaseOf, PROJECT, PUBLISHED, replicaOf } from './samples.ts'

export const A = replicaOf(0)
export const B = replicaOf(1)
export const C = replicaOf(2)
export const SPARE = new Uint8Array(16).fill(9)
export const CONNECTED: AgentEvent = { kind: 'connected', spare: SPARE }
export const WELCOME: Extract<AgentEvent, { kind: 'welcome' }> = { kind: 'welcome', resumed: true, received: 0, unknown: [] }
const SIGNER: AgentSigner = { peerId: PROJECT, sign: () => new Uint8Array(64) }

export function agentWith(options: Partial<AgentOptions> = {}, signer = SIGNER): Agent {
  return new Agent({ project: PROJECT, slots: 1, stockBytesMax: 2 ** 40, ...options }, signer, new Uint8Array(16))
}

/** A connected agent with an engine that works; what that said is taken away. */
export function ready(options: Partial<AgentOptions> = {}, signer = SIGNER): Agent {
  const agent = agentWith(options, signer)
  play(agent, { kind: 'engine', up: true }, CONNECTED, WELCOME)
  return agent
}

export function play(agent: Agent, ...events: AgentEvent[]): Step {
  return playAt(agent, 0, ...events)
}

export function playAt(agent: Agent, nowMs: number, ...events: AgentEvent[]): Step {
  for (const event of events) agent.apply(event, nowMs)
  return agent.take()
}

export function assign(seq: number, ...replicas: string[]): AgentEvent {
  return { kind: 'assign', seq, leases: replicas.map((replica) => ({ ok: true, granted: false, lease: leaseOf(replica) })) }
}

/** With the leave to run. */
export function assignGranted(seq: number, ...replicas: string[]): AgentEvent {
  return { kind: 'assign', seq, leases: replicas.map((replica) => ({ ok: true, granted: true, lease: leaseOf(replica) })) }
}

export function grant(seq: number, granted: string[], refused: string[] = []): AgentEvent {
  return { kind: 'grant', seq, granted, refused }
}

export function sent({ effects }: Step): Frame[] {
  return effects.flatMap((effect) => (effect.kind === 'send' ? [decodeFrame(effect.frame) ?? Frame.decode(effect.frame)] : []))
}

export function kinds({ effects }: Step): string[] {
  return effects.map(({ kind }) => kind)
}

export function bodyOf(replica: string, node: string): Uint8Array {
  return resultOf({ project: PROJECT, node, lease: leaseOf(replica), ended: ENDED, published: PUBLISHED })
}

export function returnedBy(step: Step): string[] {
  return sent(step).flatMap((frame) => frame.returned?.replicas.map(({ replica, class: whose, code }) => `${replica} ${whose} ${code}`) ?? [])
}
