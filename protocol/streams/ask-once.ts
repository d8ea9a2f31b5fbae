import type { PeerIdString } from '../ids.ts'
import type { Host, StreamOptions } from '../peer/host.ts'
import { StreamError } from '../peer/host.ts'

const NOTHING = (): void => undefined

/**
 * One question and its answer, a frame each, over a stream of its own to a peer that is connected. Gives up when the signal says
 * so. Throws HostError and StreamError, `closed` when the peer ends the stream without an answer.
 */
export async function askOnce(
  host: Pick<Host, 'open'>,
  peer: PeerIdString,
  protocol: string,
  { question, signal, ...options }: StreamOptions & { readonly question: Uint8Array; readonly signal: AbortSignal }
): Promise<Uint8Array> {
  const stream = await host.open(peer, protocol, options, signal)
  const stop = (): void => stream.abort(new Error('no longer wanted'))
  signal.addEventListener('abort', stop, { once: true })
  try {
    await stream.write(question)
    for await (const answer of stream.frames()) return answer
    throw new StreamError('closed', `${peer} ended the stream without an answer`)
  } finally {
    signal.removeEventListener('abort', stop)
    stream.close().catch(NOTHING)
  }
}
