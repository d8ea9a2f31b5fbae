/** `bundle/<batch>/<cid>`: a manifest with what was found out of it; `done/<client>/<cid>`: the task that decided it; `from/<client>/<root>`: the one that left it. */
import type { TaskId } from '#protocol/ids'
import type { AcceptedBundle } from './events.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER } from './record-writer.ts'

/** What is stored of a bundle. Its id is known to whoever looks for it. */
export type StoredBundle = Pick<AcceptedBundle, 'bytes' | 'platform' | 'data'>

export type BundleRow = [manifest: Uint8Array, platform?: string | null, data?: [root: string, within: string | null, bytes: number][]]

export function encodeBundleRecord(bundle: StoredBundle): Uint8Array {
  WRITER.list(1 + bundleFields(bundle)).int(RECORD_VERSION)
  writeBundle(bundle)
  return WRITER.done()
}

/** How many items of a list `writeBundle` writes. */
export function bundleFields({ platform, data = [] }: StoredBundle): number {
  return data.length > 0 ? 3 : platform === undefined ? 1 : 2
}

export function writeBundle({ bytes, platform, data = [] }: StoredBundle): void {
  WRITER.bytes(bytes)
  if (platform !== undefined) WRITER.text(platform)
  else if (data.length > 0) WRITER.nil()
  if (data.length > 0) WRITER.list(data.length)
  for (const { root, within, bytes } of data) {
    WRITER.list(3).text(root)
    if (within === null) WRITER.nil()
    else WRITER.text(within)
    WRITER.int(bytes)
  }
}

/** Throws when the bytes are not a record that this version wrote: the store is corrupt. */
export function decodeBundleRecord(record: Uint8Array): StoredBundle {
  return bundleOfRow(decode<BundleRow>('bundle', record))
}

export function bundleOfRow([bytes, platform, data = []]: BundleRow): StoredBundle {
  return { bytes, ...(typeof platform === 'string' ? { platform } : {}), data: data.map(([root, within, bytes]) => ({ root, within, bytes })) }
}

export function encodeDoneRecord(task: TaskId): Uint8Array {
  return WRITER.list(2).int(RECORD_VERSION).text(task).done()
}

export function decodeDoneRecord(record: Uint8Array): TaskId {
  return decode<[TaskId]>('done', record)[0]
}
