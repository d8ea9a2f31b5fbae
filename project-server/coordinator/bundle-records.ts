/** `bundle/<batch>/<cid>`: a manifest with what was found out of it; `done/<client>/<cid>`: the task that decided it; `from/<client>/<root>`: the one that left it. */
import type { TaskId } from '#protocol/ids'
import type { AcceptedBundle } from './events.ts'
import { decodeRecord as decode, RECORD_VERSION } from './record-version.ts'
import { WRITER } from './record-writer.ts'

export function encodeBundleRecord({ bytes, platform, data = [] }: Pick<AcceptedBundle, 'bytes' | 'platform' | 'data'>): Uint8Array {
  WRITER.list(data.length > 0 ? 4 : platform === undefined ? 2 : 3)
    .int(RECORD_VERSION)
    .bytes(bytes)
  if (platform !== undefined) WRITER.text(platform)
  else if (data.length > 0) WRITER.nil()
  if (data.length > 0) WRITER.list(data.length)
  for (const { root, within, bytes } of data) {
    WRITER.list(3).text(root)
    if (within === null) WRITER.nil()
    else WRITER.text(within)
    WRITER.int(bytes)
  }
  return WRITER.done()
}

/** The manifest. */
export function decodeBundleRecord(record: Uint8Array): Uint8Array {
  return decode<BundleRow>('bundle', record)[0]
}

type BundleRow = [manifest: Uint8Array, platform?: string | null, data?: [root: string, within: string | null, bytes: number][]]

/** What its image is for, and how large everything is that it refers to. */
export function factsOfBundle(record: Uint8Array): Pick<AcceptedBundle, 'platform' | 'data'> {
  const [, platform, data = []] = decode<BundleRow>('bundle', record)
  return { ...(typeof platform === 'string' ? { platform } : {}), data: data.map(([root, within, bytes]) => ({ root, within, bytes })) }
}

export function encodeDoneRecord(task: TaskId): Uint8Array {
  return WRITER.list(2).int(RECORD_VERSION).text(task).done()
}

export function decodeDoneRecord(record: Uint8Array): TaskId {
  return decode<[TaskId]>('done', record)[0]
}
