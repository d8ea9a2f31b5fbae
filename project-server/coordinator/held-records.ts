/** That a batch or a task is held, as a part of its record. */
import type { PeerIdString } from '#protocol/ids'
import { WRITER } from './record-writer.ts'

/** A batch or a task gets no new replica until it is released. */
export interface Held {
  /** A client, or the project itself. */
  readonly by: PeerIdString
  /** For people; '' when none was given. */
  readonly reason: string
  readonly atMs: number
}

export type HeldRow = [by: PeerIdString, reason: string, atMs: number] | null

export function writeHeld(held: Held | null): void {
  if (held === null) WRITER.nil()
  else WRITER.list(3).text(held.by).text(held.reason).int(held.atMs)
}

export function heldOf(row: HeldRow): Held | null {
  return row === null ? null : { by: row[0], reason: row[1], atMs: row[2] }
}
