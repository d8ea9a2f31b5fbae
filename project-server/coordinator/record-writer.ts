/** The writer of the records that are written most, and what they have in common. */
import { Writer } from '#protocol/cbor/writer'

export const WRITER = new Writer()

export function writeTexts(texts: readonly string[]): void {
  WRITER.list(texts.length)
  for (const text of texts) WRITER.text(text)
}
