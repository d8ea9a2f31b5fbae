/** What the tests of the content plane share: temporary folders, trees on disk, and stores that are connected in memory. */
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ContentStore } from '../content.ts'
import { type MemoryHost, MemoryNetwork } from '../memory-network.ts'
import { type BlockServer, serveContent } from '../serve.ts'
import { decodeRequest } from '../wire.ts'
import { openContentStore } from './store.ts'

/** Path below the root -> content; a path that ends in a slash is an empty folder. */
export type Files = Readonly<Record<string, string | Uint8Array>>

export type Store = ContentStore & BlockServer

/** Gives `call` an empty folder and removes it afterwards. */
export async function inTemporaryFolder(call: (folder: string) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-content-'))
  try {
    await call(folder)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function writeFiles(folder: string, files: Files): string {
  mkdirSync(folder, { recursive: true })
  for (const [path, content] of Object.entries(files)) {
    const at = join(folder, path)
    mkdirSync(path.endsWith('/') ? at : join(at, '..'), { recursive: true })
    if (!path.endsWith('/')) writeFileSync(at, content)
  }
  return folder
}

/** What lies in a folder, as `writeFiles` takes it; folders that hold something are not listed themselves. */
export function readFiles(folder: string): Record<string, string> {
  const found: Record<string, string> = {}
  const visit = (path: string): void => {
    const names = readdirSync(join(folder, path)).sort()
    if (names.length === 0 && path !== '') found[`${path}/`] = ''
    for (const name of names) {
      const below = path === '' ? name : `${path}/${name}`
      if (statSync(join(folder, below)).isDirectory()) visit(below)
      else found[below] = readFileSync(join(folder, below)).toString('latin1')
    }
  }
  visit('')
  return found
}

/** Bytes that differ in every leaf, the same for the same seed. */
export function pattern(bytes: number, seed = 1): Uint8Array {
  const data = new Uint32Array(Math.ceil(bytes / 4))
  let state = seed * 2654435761
  for (let index = 0; index < data.length; index++) {
    state = (Math.imul(state, 1664525) + 1013904223) | 0
    data[index] = state
  }
  return new Uint8Array(data.buffer, 0, bytes)
}

export interface Pair {
  readonly network: MemoryNetwork
  readonly provider: Store
  readonly requester: Store
  readonly host: MemoryHost
  /** Blocks the requester asked the provider for, in order, as hex digests. */
  readonly asked: string[]
}

/** A store that serves as `provider` and one that fetches, in `folder`. */
export async function withPair(folder: string, call: (pair: Pair) => Promise<void>): Promise<void> {
  const network = new MemoryNetwork()
  const asked: string[] = []
  network.passing = countAsked(asked)
  const provider = await openContentStore(join(folder, 'provider'))
  const requester = await openContentStore(join(folder, 'requester'))
  await serveContent(network.host('provider'), provider)
  try {
    await call({ network, provider, requester, host: network.host('requester'), asked })
  } finally {
    await requester.close()
    await provider.close()
  }
}

/** Notes what is asked for on its way. */
export function countAsked(asked: string[], by = 'requester'): MemoryNetwork['passing'] {
  return (frame, from) => {
    if (from === by) for (const id of decodeRequest(frame)) asked.push(Buffer.from(id, 'latin1').toString('hex'))
    return frame
  }
}
