/**
 * Writes the frames of which a coordinator sends a handful for every run: lists of ids, and leases. Straight into memory that
 * many frames share, where the generated encoder first makes an object for each of their fields. The bytes are the same.
 */
import type { Lease } from './messages.ts'

/** What a `Checkpointing` says. */
interface CheckpointTold {
  readonly everyMs: number
  readonly root?: string | undefined
}

/** What a `Lease` says. */
type LeaseTold = Readonly<Pick<Lease, 'replica' | 'epoch'>> & {
  readonly manifest: Uint8Array
  readonly gpus: readonly string[]
  readonly granted?: boolean | undefined
  readonly memoryBytes?: number | undefined
  readonly sealed?: boolean | undefined
  readonly checkpoint?: CheckpointTold | undefined
}

/** Field numbers of `Frame` whose messages are one or two lists of texts; the second of a cancel is its reason. */
const TEXTS_FIELDS = { grant: 33, cancel: 34, release: 35, reveal: 36 } as const
type TextsKind = keyof typeof TEXTS_FIELDS
const ASSIGN = 32
const PIECE_BYTES = 64 * 1024
const [VARINT, BYTES] = [0, 2]

/** Keeps its place, so that no object is made for what is written. */
class FrameWriter {
  #buffer = Buffer.allocUnsafeSlow(PIECE_BYTES)
  #at = 0

  texts(seq: number, kind: TextsKind, first: readonly string[], second: readonly string[]): Uint8Array {
    const length = textsBytes(first) + textsBytes(second)
    const from = this.#begin(seq, TEXTS_FIELDS[kind], length)
    for (const text of first) this.#text(1, text)
    for (const text of second) this.#text(2, text)
    return this.#done(from)
  }

  assign(seq: number, leases: readonly LeaseTold[], signature: Uint8Array): Uint8Array {
    let length = signature.length === 0 ? 0 : fieldBytes(signature.length)
    for (const lease of leases) length += fieldBytes(leaseBytes(lease))
    const from = this.#begin(seq, ASSIGN, length)
    for (const lease of leases) this.#lease(lease)
    if (signature.length > 0) this.#bytes(2, signature)
    return this.#done(from)
  }

  /** The frame's number and the head of its message, which is so long; answers where the frame begins. */
  #begin(seq: number, field: number, length: number): number {
    const size = 11 + 2 + varintBytes(length) + length
    if (this.#at + size > this.#buffer.length) {
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(PIECE_BYTES, size))
      this.#at = 0
    }
    const from = this.#at
    if (seq > 0) this.#number(1, seq)
    this.#varint(field * 8 + BYTES)
    this.#varint(length)
    return from
  }

  #done(from: number): Uint8Array {
    return new Uint8Array(this.#buffer.buffer, this.#buffer.byteOffset + from, this.#at - from)
  }

  #lease(lease: LeaseTold): void {
    const { replica, epoch, manifest, granted, gpus, memoryBytes, sealed, checkpoint } = lease
    this.#varint(8 + BYTES)
    this.#varint(leaseBytes(lease))
    this.#text(1, replica)
    if (epoch > 0) this.#number(2, epoch)
    if (manifest.length > 0) this.#bytes(3, manifest)
    if (granted !== undefined) this.#number(4, Number(granted))
    for (const gpu of gpus) this.#text(5, gpu)
    if (memoryBytes !== undefined) this.#number(7, memoryBytes)
    if (sealed !== undefined) this.#number(6, Number(sealed))
    if (checkpoint === undefined) return
    this.#varint(8 * 8 + BYTES)
    this.#varint(checkpointBytes(checkpoint))
    if (checkpoint.everyMs > 0) this.#number(1, checkpoint.everyMs)
    if (checkpoint.root !== undefined) this.#text(2, checkpoint.root)
  }

  #number(field: number, value: number): void {
    this.#buffer[this.#at++] = field * 8 + VARINT
    this.#varint(value)
  }

  #bytes(field: number, value: Uint8Array): void {
    this.#buffer[this.#at++] = field * 8 + BYTES
    this.#varint(value.length)
    this.#buffer.set(value, this.#at)
    this.#at += value.length
  }

  #text(field: number, value: string): void {
    const bytes = textBytes(value)
    this.#buffer[this.#at++] = field * 8 + BYTES
    this.#varint(bytes)
    this.#at += this.#buffer.write(value, this.#at, 'utf8')
  }

  #varint(value: number): void {
    let rest = value
    for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) this.#buffer[this.#at++] = (rest % 0x80) + 0x80
    this.#buffer[this.#at++] = rest
  }
}

function leaseBytes({ replica, epoch, manifest, granted, gpus, memoryBytes, sealed, checkpoint }: LeaseTold): number {
  let bytes = fieldBytes(textBytes(replica)) + (epoch > 0 ? 1 + varintBytes(epoch) : 0) + (manifest.length > 0 ? fieldBytes(manifest.length) : 0)
  if (granted !== undefined) bytes += 2
  for (const gpu of gpus) bytes += fieldBytes(textBytes(gpu))
  if (memoryBytes !== undefined) bytes += 1 + varintBytes(memoryBytes)
  if (sealed !== undefined) bytes += 2
  return checkpoint === undefined ? bytes : bytes + fieldBytes(checkpointBytes(checkpoint))
}

function checkpointBytes({ everyMs, root }: CheckpointTold): number {
  return (everyMs > 0 ? 1 + varintBytes(everyMs) : 0) + (root === undefined ? 0 : fieldBytes(textBytes(root)))
}

function textsBytes(texts: readonly string[]): number {
  let bytes = 0
  for (const text of texts) bytes += fieldBytes(textBytes(text))
  return bytes
}

function textBytes(text: string): number {
  return Buffer.byteLength(text, 'utf8')
}

/** With its tag, of a field below 16, and its length. */
function fieldBytes(length: number): number {
  return 1 + varintBytes(length) + length
}

function varintBytes(value: number): number {
  let bytes = 1
  for (let rest = value; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes++
  return bytes
}

const WRITER = new FrameWriter()

/** A numbered frame whose message is lists of texts: who is granted and who refused; replicas and, of a cancel, why. */
export function encodeTexts(seq: number, kind: TextsKind, first: readonly string[], second: readonly string[]): Uint8Array {
  return WRITER.texts(seq, kind, first, second)
}

/** A numbered Assign. */
export function encodeLeases(seq: number, leases: readonly LeaseTold[], signature: Uint8Array): Uint8Array {
  return WRITER.assign(seq, leases, signature)
}
