/** Trees that owners bring: fetched over the client's own connection, pinned, and known by name from then on. */
import type { CID } from 'multiformats/cid'
import { acceptCid, DAG_CBOR } from '#protocol/content/cid'
import { ContentError, type ContentStore } from '#protocol/content/content'
import { decodeNode } from '#protocol/content/dag'
import { linksOf } from '#protocol/content/reader'
import type { PeerIdString } from '#protocol/ids'
import type { Pull, PullProgress } from '#protocol/owner/messages'
import type { Host } from '#protocol/peer/host'
import type { Committer } from '../commit.ts'
import { clip } from '../control/inbound.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { DATA_NAME_CHARS_MAX, PULL_BYTES_MAX, WATCH_MS } from '../policy.ts'
import type { Clock } from '../ports.ts'
import { pause } from './changes.ts'
import type { ClientData } from './data.ts'
import { type OpenRequest, OwnerError } from './request.ts'

export interface PullPorts {
  readonly content: Pick<ContentStore, 'check' | 'fetch' | 'getBlock' | 'pin' | 'sizeOf'>
  readonly host: Host
  readonly data: ClientData
  readonly coordinator: Pick<Coordinator, 'room'>
  readonly committer: Pick<Committer, 'apply' | 'write' | 'assertOpen'>
  readonly clock: Clock
}

/** Answers with progress ten times a second at most, and at the end with the whole size. */
export async function pull(request: Pull, open: OpenRequest, ports: PullPorts): Promise<PullProgress> {
  const root = acceptCid(request.root)
  if (root === undefined) throw new OwnerError('malformed', 'the root to pull is not a CID of a kind that talko knows')
  ports.committer.assertOpen()
  const known = ports.data.has(root)
  const room = known ? null : ports.coordinator.room(open.client)
  let bytes = (await ports.content.check(root)) ? ports.content.sizeOf(root) : undefined
  if (bytes === undefined) bytes = await fetched(root, room, open, ports)
  else {
    if (room !== null && (await addedBytes(root, bytes, ports)) > room) throw overQuota(room)
    await ports.content.pin(root)
  }
  await remember({ root, name: request.name, bytes: await addedBytes(root, bytes, ports) }, open.client, ports)
  return { bytes, totalBytes: bytes }
}

/** What a bundle adds to what its client has: its image and inputs are its client's already, mostly, and count once. */
async function addedBytes(root: CID, bytes: number, { content, data }: Pick<PullPorts, 'content' | 'data'>): Promise<number> {
  const block = root.code === DAG_CBOR ? await content.getBlock(root) : undefined
  if (block === undefined) return bytes
  const known = linksOf(decodeNode(root, block)).filter((link) => data.has(link))
  return Math.max(0, bytes - known.reduce((sum, link) => sum + (content.sizeOf(link) ?? 0), 0))
}

/** Makes the name of a pinned tree durable. */
export async function remember(
  { root, name, bytes }: { readonly root: CID; readonly name: string; readonly bytes: number },
  client: PeerIdString,
  ports: Pick<PullPorts, 'data' | 'committer' | 'clock'>
): Promise<void> {
  const { change, record } = ports.data.change(root, clip(name, DATA_NAME_CHARS_MAX), bytes, ports.clock.nowMs())
  await ports.committer.write([change])
  ports.data.set(record)
  ports.committer.apply({ kind: 'brought', client, bytes: ports.data.bytes })
}

/** The host, but a stream to the client is opened over the connection that the request came on: another program of the same owner has other content. */
function hostOf({ client, beside }: OpenRequest, host: Host): Host {
  if (beside === undefined) return host
  return { ...host, open: (peer, ...how) => (peer === client ? beside(...how) : host.open(peer, ...how)) }
}

function overQuota(room: number): OwnerError {
  return new OwnerError(
    'quota',
    `the project may keep ${Math.max(0, room)} bytes more for you, and this is more: have the limit raised (talko quota shows what you may)`
  )
}

async function fetched(root: CID, room: number | null, open: OpenRequest, ports: PullPorts): Promise<number> {
  if (room !== null && room <= 0) throw overQuota(room)
  const done = new AbortController()
  let progress: PullProgress = { bytes: 0, totalBytes: 0 }
  const fetching = ports.content
    .fetch(root, {
      host: hostOf(open, ports.host),
      from: [open.client],
      pin: true,
      bytesMax: Math.min(PULL_BYTES_MAX, room ?? PULL_BYTES_MAX),
      signal: open.signal,
      onProgress: ({ bytes, totalBytes }) => {
        progress = { bytes, totalBytes }
      }
    })
    .finally(() => done.abort())
  try {
    const [{ bytes }] = await Promise.all([fetching, report(() => progress, open, AbortSignal.any([done.signal, open.signal]), ports.clock)])
    return ports.content.sizeOf(root) ?? bytes
  } catch (error) {
    throw room !== null && error instanceof ContentError && error.code === 'too_large' ? overQuota(room) : refusal(error)
  }
}

async function report(progress: () => PullProgress, open: OpenRequest, done: AbortSignal, clock: Clock): Promise<void> {
  let told = -1
  while (!done.aborted) {
    await pause(clock, WATCH_MS, done)
    const now = progress()
    if (done.aborted || now.bytes === told) continue
    told = now.bytes
    await open.part({ body: now })
  }
}

function refusal(error: unknown): unknown {
  if (!(error instanceof ContentError)) return error
  const code =
    error.code === 'too_large' || error.code === 'disk_full'
      ? error.code
      : error.code === 'bad_tree' || error.code === 'corrupt'
        ? 'malformed'
        : 'missing_content'
  return new OwnerError(code, `the tree could not be fetched from the client: ${error.message}`, { cause: error })
}
