/** Every durable record begins with its version. */
import * as dagCbor from '@ipld/dag-cbor'

export const RECORD_VERSION = 1

export function encodeRecord(fields: readonly unknown[]): Uint8Array {
  return dagCbor.encode([RECORD_VERSION, ...fields])
}

/** Throws when the bytes are not a record that this version wrote: the store is corrupt. */
export function decodeRecord<Fields extends readonly unknown[]>(what: string, bytes: Uint8Array, expected = RECORD_VERSION): Fields {
  const [version, ...fields] = dagCbor.decode<unknown[]>(bytes)
  if (version !== expected) throw new Error(`a ${what} record has version ${version}, this talko reads version ${expected}: install the newest talko`)
  return fields as unknown as Fields
}
