/**
 * `closing/<peer>/<replica>`: a cancelled run that has GPUs of its node until it has ended. Of other runs nothing is written: for a
 * moment two of them share a processor and a bound on memory, which costs time; two on one GPU fail.
 */
import type { Closing } from './model.ts'
import { decodeRecord, encodeRecord } from './record-version.ts'

export function encodeClosingRecord({ occupant, untilMs }: Closing): Uint8Array {
  const { cpuMillis, memoryBytes, diskBytes } = occupant.needs
  return encodeRecord([untilMs, cpuMillis, memoryBytes, diskBytes, [...occupant.gpus]])
}

export function decodeClosingRecord(bytes: Uint8Array): Closing {
  const [untilMs, cpuMillis, memoryBytes, diskBytes, gpus] = decodeRecord<[number, number, number, number, string[]]>('closing', bytes)
  return { untilMs, occupant: { gpus, needs: { cpuMillis, memoryBytes, diskBytes } } }
}
