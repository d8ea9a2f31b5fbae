/** The real project server with many connected nodes of which there is nothing but the stream: what it takes itself. */

import { CONTROL_VERSION, Frame } from '#protocol/control/messages'
import type { PeerIdString } from '#protocol/ids'
import { type FrameListener, type FrameStream, type Host, HostError } from '#protocol/peer/host'
import { NOBODY } from '../checkers/nobody.ts'
import { Engine } from '../engine/engine.ts'
import { Process } from '../engine/process.ts'
import { contentStore } from '../protocol/content.ts'
import { Gone } from '../protocol/gone.ts'
import { identityOf } from '../protocol/identities.ts'
import { serve } from '../protocol/serve.ts'
import { ServerDisk } from '../protocol/server-disk.ts'
import { capabilitiesOf } from '../protocol/service.ts'
import { Random } from '../random.ts'
import { bytesUsed } from './memory.ts'

type Handler = (stream: FrameStream) => Promise<void>

/** Between two hellos. */
const APART_MS = 1

/** Bytes of the server for each of so many nodes that have said hello: its record of the node and its end of the control stream. */
export async function serverBytesANode(agents: number): Promise<number> {
  const engine = new Engine()
  const random = new Random('alone')
  const process = new Process(engine)
  const project = identityOf('project')
  const disk = new ServerDisk({ engine, random, onCommitted: () => undefined, onCrash: () => undefined })
  const host = new Listening(project.peerId)
  const content = contentStore({ roots: new Set(), ask: async () => false })
  const onFatal = (error: Error): never => {
    throw error
  }
  const serving = serve({ process, host, content, store: disk.store(process), signer: project, random, witness: NOBODY, onFatal, onFaulty: () => undefined })
  await engine.run(1_000)
  await serving
  const streams = Array.from({ length: agents }, (_, index) => new Silence(identityOf(`node ${index}`).peerId))
  const before = bytesUsed()
  for (const [index, stream] of streams.entries()) engine.after(index * APART_MS, () => void host.handler?.(stream))
  await engine.run(1_000 + agents * APART_MS + 1_000)
  const after = bytesUsed()
  if ((await serving).control.connected !== agents) throw new Error('not all of the nodes were welcomed')
  return (after - before) / agents
}

/** A host that is only spoken to. */
class Listening implements Host {
  readonly peerId: PeerIdString
  handler: Handler | undefined

  constructor(peerId: PeerIdString) {
    this.peerId = peerId
  }

  async handle(_protocol: string, _options: unknown, handler: Handler): Promise<void> {
    this.handler = handler
  }

  addresses(): string[] {
    return []
  }

  isConnected(): boolean {
    return false
  }

  async connect(): Promise<never> {
    throw new HostError('unreachable', 'nobody there')
  }

  async open(): Promise<never> {
    throw new HostError('not_connected', 'nobody there')
  }

  async findRecord(): Promise<undefined> {}

  async publishRecord(): Promise<void> {}

  async disconnect(): Promise<void> {}

  async stop(): Promise<void> {}
}

/** A node that says hello and nothing more: as little as can be, for it is not what is measured. */
class Silence implements FrameStream {
  readonly remotePeer: PeerIdString
  readonly remoteAddress = '/sim/silence'
  readonly gone = new Gone()
  /** The server's. */
  #listener: FrameListener | undefined

  constructor(remotePeer: PeerIdString) {
    this.remotePeer = remotePeer
  }

  listen(listener: FrameListener): void {
    this.#listener = listener
    listener.frame(hello(this.remotePeer))
  }

  frames(): never {
    throw new Error('the project server listens')
  }

  async write(): Promise<void> {}

  async close(): Promise<void> {}

  abort(error: Error): void {
    this.gone.abort(error)
    this.#listener?.over(error)
  }
}

function hello(peer: PeerIdString): Uint8Array {
  const link = new Uint8Array(16)
  new TextEncoder().encodeInto(peer.slice(-16), link)
  return Frame.encode({
    hello: {
      versions: [CONTROL_VERSION],
      link,
      spare: link,
      received: 0,
      project: identityOf('project').peerId,
      capabilities: capabilitiesOf(1),
      replicas: [],
      agent: 'talko/sim',
      name: peer.slice(-10),
      demand: { slots: 1 },
      holdings: []
    }
  })
}
