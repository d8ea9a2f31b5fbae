import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { extract } from 'tar-stream'
import { paddingOf, readHeader, readPax, TAR_BLOCK, TAR_END, type TarEntry, writeHeader } from './tar.ts'

/** What an independent reader finds. */
async function foreignEntries(
  archive: Uint8Array
): Promise<{ name: string; type: string | null | undefined; mode: number | undefined; size: number | undefined; link: string | null | undefined }[]> {
  const reader = extract()
  reader.end(archive)
  const found = []
  for await (const entry of reader) {
    const { name, type, mode, size, linkname } = entry.header
    found.push({ name, type, mode, size, link: linkname })
    entry.resume()
  }
  return found
}

const name = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 130 })
  .filter((text) => !text.includes('\0') && !text.includes('\n') && !text.endsWith('/') && Buffer.from(text).toString() === text)

it('writes headers that another tar reader understands, long and foreign names included', async () => {
  await fc.assert(
    fc.asyncProperty(name, name, fc.integer({ min: 0, max: 0o7777 }), fc.constantFrom('file', 'directory', 'symlink'), async (path, link, mode, kind) => {
      const entry: TarEntry = { path, kind, mode, size: 0, ...(kind === 'symlink' && { link }) }
      const [found] = await foreignEntries(Buffer.concat([writeHeader(entry), TAR_END]))
      assert.deepEqual(found, {
        name: kind === 'directory' ? `${path}/` : path,
        type: kind,
        mode,
        size: 0,
        link: kind === 'symlink' ? link : null
      })
    }),
    { numRuns: 200 }
  )
})

it('reads back what it wrote', () => {
  const bytes = writeHeader({ path: 'etc/passwd', kind: 'file', mode: 0o644, size: 1234 })
  assert.deepEqual(readHeader(bytes), { name: 'etc/passwd', kind: 'file', size: 1234, link: '' })
  assert.equal(readHeader(new Uint8Array(TAR_BLOCK)), 'end')
  bytes[0] = 0
  assert.equal(readHeader(bytes), undefined)
})

it('keeps sizes beyond 8 GiB in a pax record', () => {
  const bytes = writeHeader({ path: 'huge', kind: 'file', mode: 0o644, size: 10_000_000_000 })
  const pax = readHeader(bytes)
  assert.ok(typeof pax === 'object' && pax.kind === 'pax')
  assert.equal(readPax(bytes.subarray(TAR_BLOCK, TAR_BLOCK + pax.size)).get('size'), '10000000000')
})

it('survives any block and any pax data', () => {
  fc.assert(
    fc.property(fc.uint8Array({ minLength: TAR_BLOCK, maxLength: TAR_BLOCK }), fc.uint8Array({ maxLength: 300 }), (block, data) => {
      const header = readHeader(block)
      assert.ok(header === undefined || header === 'end' || Number.isSafeInteger(header.size))
      readPax(data)
    })
  )
})

it('pads to whole blocks', () => {
  fc.assert(fc.property(fc.nat(), (size) => (size + paddingOf(size)) % TAR_BLOCK === 0 && paddingOf(size) < TAR_BLOCK))
})
