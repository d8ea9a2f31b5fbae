/** Small files of the client's own, written so that a crash leaves the old or the new, never half. */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Durable when it resolves. */
export async function writeWhole(path: string, content: string | Uint8Array, mode = 0o644): Promise<void> {
  await mkdir(dirname(path), { recursive: true })
  const draft = `${path}.${process.pid}-${randomBytes(4).toString('hex')}`
  try {
    const file = await open(draft, 'wx', mode)
    try {
      await file.writeFile(content)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(draft, path)
  } catch (error) {
    await rm(draft, { force: true })
    throw error
  }
}

/** undefined when there is no such file. */
export async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    // A folder in the file's place is found only when it is read: that error names no path by itself.
    throw error instanceof Error ? Object.assign(error, { path }) : error
  }
}

/** The value of a JSON file; undefined when the file is missing or holds something else than JSON. */
export async function readJson(path: string): Promise<unknown> {
  const text = await readIfThere(path)
  if (text === undefined) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A whole file; undefined when it has more than `bytesMax`. */
export async function readUpTo(path: string, bytesMax: number): Promise<Uint8Array | undefined> {
  const file = await open(path)
  try {
    const buffer = new Uint8Array(bytesMax + 1)
    let filled = 0
    for (;;) {
      const { bytesRead } = await file.read(buffer, filled, buffer.length - filled)
      filled += bytesRead
      if (bytesRead === 0 || filled > bytesMax) break
    }
    return filled > bytesMax ? undefined : buffer.subarray(0, filled)
  } finally {
    await file.close()
  }
}
