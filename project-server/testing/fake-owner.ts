/** A client that sends requests of the owner protocol as it is told, for tests. */
import * as dagCbor from '@ipld/dag-cbor'
import { DEFAULT_RESOURCES, encodeManifest, type RunManifest } from '#protocol/bundle/manifest'
import { DEFAULT_POLICY, type TaskPolicy } from '#protocol/bundle/policy'
import type { PeerIdString } from '#protocol/ids'
import { ANSWER_BYTES_MAX, decodeAnswer, OWNER_PROTOCOL, Request, type TaskView } from '#protocol/owner/messages'
import type { FrameStream, Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity, type Signer } from '#protocol/signing/keys'

export type Question = Omit<Request, 'id' | 'cancel'>

/** What a refused request throws. */
export class Refused extends Error {
  override readonly name = 'Refused'
  readonly code: string
  constructor(code: string, message: string) {
    super(message)
    this.code = code
  }
}

export interface Answered {
  /** Decoded body of the last answer; bytes that are no dag-cbor stay as they are. */
  readonly body: unknown
  readonly raw: Uint8Array | undefined
  /** Bodies of the answers before it. */
  readonly parts: readonly unknown[]
  /** All data, joined. */
  readonly data: string
}

interface Open {
  parts: unknown[]
  data: string
  resolve(answered: Answered): void
  reject(error: Error): void
}

export class FakeOwner {
  readonly host: Host
  readonly project: PeerIdString
  readonly #open = new Map<number, Open>()
  #stream: FrameStream | undefined
  #next = 1

  private constructor(host: Host, project: PeerIdString) {
    this.host = host
    this.project = project
  }

  static async start(project: PeerIdString, addresses: readonly string[], signer?: Signer): Promise<FakeOwner> {
    const host = await createHost({ signer: signer ?? (await generateIdentity()), listen: [], role: 'client' })
    const owner = new FakeOwner(host, project)
    await owner.connect(addresses)
    return owner
  }

  /** Another stream of the same client. */
  static async beside({ host, project }: FakeOwner): Promise<FakeOwner> {
    const owner = new FakeOwner(host, project)
    await owner.#openStream()
    return owner
  }

  async connect(addresses: readonly string[]): Promise<void> {
    await this.host.connect(this.project, addresses)
    await this.#openStream()
  }

  async #openStream(): Promise<void> {
    const stream = await this.host.open(this.project, OWNER_PROTOCOL, { frameBytesMax: ANSWER_BYTES_MAX })
    this.#stream = stream
    void this.#read(stream)
  }

  ask(question: Question): Promise<Answered> {
    const id = this.#next++
    return new Promise((resolve, reject) => {
      this.#open.set(id, { parts: [], data: '', resolve, reject })
      this.write(Request.encode({ id, cancel: false, ...question })).catch(reject)
    })
  }

  async write(bytes: Uint8Array): Promise<void> {
    await this.#stream?.write(bytes)
  }

  async query<T>(what: string, of = ''): Promise<T> {
    return (await this.ask({ query: { what, of, limit: 0, after: '' } })).body as T
  }

  /** Submits a batch of these tasks under an id made of one repeated byte, and answers its id. */
  async submit(id: number, manifests: readonly Uint8Array[], policy: Partial<TaskPolicy> = {}): Promise<string> {
    const submit = {
      batch: new Uint8Array(16).fill(id),
      name: `batch ${id}`,
      manifests: manifests as Uint8Array<ArrayBuffer>[],
      policy: new Uint8Array(dagCbor.encode({ ...DEFAULT_POLICY, ...policy })),
      more: false,
      first: 0
    }
    return ((await this.ask({ submit })).body as { batch: string }).batch
  }

  async tasks(batch: string): Promise<readonly TaskView[]> {
    return this.query('tasks', batch)
  }

  async stop(): Promise<void> {
    await this.host.stop()
  }

  async #read(stream: FrameStream): Promise<void> {
    let lost = new Error('the stream ended')
    try {
      for await (const bytes of stream.frames()) {
        const answer = decodeAnswer(bytes)
        const open = answer === undefined ? undefined : this.#open.get(answer.id)
        if (answer === undefined || open === undefined) throw new Error('an answer to nothing')
        open.data += Buffer.from(answer.data ?? []).toString()
        if (!answer.end) {
          if (answer.body !== undefined) open.parts.push(dagCbor.decode(answer.body))
          continue
        }
        this.#open.delete(answer.id)
        if (answer.code !== undefined) open.reject(new Refused(answer.code, answer.message ?? ''))
        else open.resolve({ body: answer.body === undefined ? undefined : dagCbor.decode(answer.body), raw: answer.body, parts: open.parts, data: open.data })
      }
    } catch (error) {
      lost = error as Error
    }
    for (const open of this.#open.values()) open.reject(lost)
    this.#open.clear()
  }
}

/** A run of the process engine that differs from others by its text. */
export function runManifest(text: string, change: Partial<RunManifest> = {}): Uint8Array {
  return encodeManifest({
    kind: 'run',
    v: 1,
    engine: 'process',
    image: null,
    command: ['echo', text],
    dependencies: [],
    environment: {},
    resources: { ...DEFAULT_RESOURCES, memoryBytes: 64 * 1024 ** 2 },
    network: 'none',
    compareStdout: false,
    ...change
  })
}
