/**
 * Ids of what a coordinator creates. Content has a CID; what is decided about it has one of these.
 * All are plain strings, so that they can be map keys, store keys and command-line arguments unchanged.
 */

import { flat } from './flat.ts'

/** 26 lower-case base32 characters (a random 128-bit number): one submission. */
export type BatchId = string
/** `<batch>.<index>`: one computation to be decided. */
export type TaskId = string
/** `<batch>.<index>.<attempt>`: one execution of a task, attempts counted from 1. */
export type ReplicaId = string
/** libp2p peer id in base58 (`12D3Koo…`): nodes, clients, coordinators and projects alike; it contains the Ed25519 public key. */
export type PeerIdString = string

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567'

/** 16 random bytes (drawn by the shell) -> a batch id. */
export function batchIdFrom(random: Uint8Array): BatchId {
  if (random.length !== 16) throw new RangeError(`a batch id needs 16 random bytes, got ${random.length}`)
  let id = ''
  let bits = 0
  let value = 0
  for (const byte of random) {
    value = (value << 8) | byte
    bits += 8
    while (bits >= 5) {
      bits -= 5
      id += ALPHABET.charAt((value >>> bits) & 31)
    }
    value &= (1 << bits) - 1
  }
  return id + ALPHABET.charAt((value << (5 - bits)) & 31)
}

export function taskId(batch: BatchId, index: number): TaskId {
  return flat(`${batch}.${index}`)
}

export function replicaId(task: TaskId, attempt: number): ReplicaId {
  return flat(`${task}.${attempt}`)
}

const BATCH = /^[a-z2-7]{26}$/
const TASK = /^([a-z2-7]{26})\.(0|[1-9]\d{0,8})$/
const REPLICA = /^([a-z2-7]{26}\.(?:0|[1-9]\d{0,8}))\.([1-9]\d{0,5})$/

export function isBatchId(text: string): text is BatchId {
  return BATCH.test(text)
}

/** The parts of a task id; undefined when it is not one. */
export function parseTaskId(text: string): { batch: BatchId; index: number } | undefined {
  const match = TASK.exec(text)
  return match?.[1] === undefined ? undefined : { batch: match[1], index: Number(match[2]) }
}

/** The parts of a replica id; undefined when it is not one. */
export function parseReplicaId(text: string): { task: TaskId; attempt: number } | undefined {
  const match = REPLICA.exec(text)
  return match?.[1] === undefined ? undefined : { task: match[1], attempt: Number(match[2]) }
}
