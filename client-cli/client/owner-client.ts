/** The Client over one owner link. Wires the parts; each is explained where it is. */
import * as dagCbor from '@ipld/dag-cbor'
import type { CID } from 'multiformats/cid'
import { DEFAULT_POLICY } from '#protocol/bundle/policy'
import { comparatorOf } from '#protocol/compare/program'
import { acceptCid } from '#protocol/content/cid'
import type { BatchView, TaskView } from '#protocol/owner/messages'
import { ClientError } from '../errors.ts'
import type { Random } from '../ports.ts'
import type { Client, Found, Task, TaskResult, TransferOptions } from './client.ts'
import { TEXT_BYTES_MAX } from './client.ts'
import { followEvents } from './events.ts'
import { followLog, type LogPorts } from './logs.ts'
import { labelsOf, manage } from './manage.ts'
import { listBook, type NameEntry, parseReference } from './names.ts'
import type { OwnerLink } from './owner-link.ts'
import {
  queryBans,
  queryBatches,
  queryClients,
  queryCredit,
  queryDifference,
  queryLedger,
  queryNodes,
  queryProject,
  queryReceipt,
  queryResolve,
  queryTask,
  queryTasks,
  queryWhy
} from './queries.ts'
import { findContent } from './resolve.ts'
import { Results } from './results.ts'
import { type Input, manifestOf, policyOf, type TaskSpec } from './spec.ts'
import { submitBatch, submitSweep } from './submission.ts'
import { download, readFileOf, readText, type TransferPorts, upload, uploadBundle, uploadImage } from './transfer.ts'
import { banAnswer, batchView, clientView, filesView, made, readBody, writtenView } from './views.ts'

export interface ClientPorts extends Omit<TransferPorts, 'link'>, Omit<LogPorts, 'project'> {
  readonly link: OwnerLink
  readonly random: Random
  readonly names: () => Promise<readonly NameEntry[]>
  /** Whether such a file or folder is on this machine. */
  readonly existsHere: (path: string) => Promise<boolean>
  /** Runs `call` when everything that was called in this turn of the event loop has been. */
  readonly soon: (call: () => void) => void
  readonly close: () => Promise<void>
}

/** What a comparator may use when nobody says: it reads two outputs, and others wait for it. */
const COMPARATOR_RESOURCES = { memoryBytes: 512 * 1024 ** 2, timeMs: 60_000, diskBytes: 256 * 1024 ** 2 }
/** Tasks of one submitTask batch. */
const TOGETHER_MAX = 2048

interface Waiting {
  readonly manifest: Uint8Array
  readonly name: string
  readonly policy: string
  readonly asked: TaskSpec
  readonly done: (task: Task) => void
  readonly failed: (error: unknown) => void
}

export function ownerClient(ports: ClientPorts): Client {
  const { link, project, clock, random } = ports
  const results = new Results(link, clock)
  const waiting: Waiting[] = []
  let planned = false

  const input = async (name: string, given: string | Input, options: TransferOptions & { dryRun?: boolean }): Promise<Input> => {
    if (typeof given !== 'string') return given
    const reference = parseReference(given)
    if (reference.kind === 'named') {
      try {
        return await findContent(ports, given, options)
      } catch (error) {
        const unknown = error instanceof ClientError && (error.code === 'not_found' || error.code === 'usage')
        if (!unknown || !(await ports.existsHere(given))) throw error
      }
    } else if (!(await ports.existsHere(given))) throw new ClientError('not_found', `input ${name}: there is no file or folder ${given}`)
    return upload(ports, given, options)
  }

  const resolveSpec = async (spec: TaskSpec, options: TransferOptions & { dryRun?: boolean }, known: Map<string, Promise<Input>>): Promise<Uint8Array> => {
    const engine = spec.engine ?? 'docker'
    if (engine === 'docker' && spec.image === undefined) throw new ClientError('usage', 'which image? name one (`talko image list`), or choose engine process')
    if (engine === 'process' && spec.image !== undefined) throw new ClientError('usage', 'engine process runs on the bare machine and takes no image')
    const image =
      spec.image === undefined
        ? null
        : (await once(known, `image ${spec.image}`, () => findContent(ports, spec.image ?? '', { kind: 'image', ...options }))).root
    const inputs: [string, Input][] = []
    for (const [name, given] of Object.entries(spec.inputs ?? {}))
      inputs.push([name, typeof given === 'string' ? await once(known, `input ${given}`, () => input(name, given, options)) : given])
    return manifestOf({
      image,
      command: spec.command,
      inputs: Object.fromEntries(inputs),
      environment: spec.environment ?? {},
      resources: spec.resources ?? {},
      engine,
      compareStdout: spec.compareStdout ?? true,
      ...(spec.platform === undefined ? {} : { platform: spec.platform }),
      ...(spec.gpus === undefined ? {} : { gpus: spec.gpus })
    })
  }

  const prepare: Client['prepare'] = async (specs, options = {}) => {
    const known = new Map<string, Promise<Input>>()
    const manifests: Uint8Array[] = []
    for (const spec of specs) manifests.push(await resolveSpec(spec, options, known))
    return manifests
  }

  const submit: Client['submit'] = (manifests, options = {}) =>
    submitBatch(
      link,
      random.bytes(16),
      {
        name: options.name ?? '',
        manifests,
        policy: policyOf(options.policy),
        labels: labelsOf(options.labels ?? {}),
        ...(options.sources === undefined ? {} : { sources: options.sources })
      },
      options.signal
    )

  const sweep: Client['submitSweep'] = (template, of, options = {}) =>
    submitSweep(
      link,
      random.bytes(16),
      {
        name: options.name ?? '',
        template,
        sweep: of,
        policy: policyOf(options.policy),
        labels: labelsOf(options.labels ?? {}),
        ...(options.sources === undefined ? {} : { sources: options.sources })
      },
      options.signal
    )

  /** Sends what waits as few batches as names and policies allow. */
  const sendWaiting = (): void => {
    planned = false
    const groups = Map.groupBy(waiting.splice(0), ({ name, policy }) => `${policy} ${name}`)
    for (const all of groups.values()) for (let from = 0; from < all.length; from += TOGETHER_MAX) void sendGroup(all.slice(from, from + TOGETHER_MAX))
  }
  const sendGroup = async (group: readonly Waiting[]): Promise<void> => {
    try {
      const batch = await submit(
        group.map(({ manifest }) => manifest),
        group[0]?.asked ?? {}
      )
      results.add(batch.id, group.length)
      for (const [index, { done }] of group.entries()) done({ id: batch.tasks[index] ?? '', batch: batch.id })
    } catch (error) {
      for (const { failed } of group) failed(error)
    }
  }

  const result = (view: TaskView): TaskResult => {
    const text = async (root: string | undefined): Promise<string> => (root === undefined ? '' : readText(ports, root, TEXT_BYTES_MAX))
    const { id, batch, index, name, status, exitCode, failure, output, stdout, stderr } = view
    if (status !== 'ready' && status !== 'failed' && status !== 'killed') throw new ClientError('usage', `task ${id} has no result yet: it is ${status}`)
    return {
      task: id,
      batch,
      index,
      name,
      ok: status === 'ready',
      status,
      ...(exitCode === undefined ? {} : { exitCode }),
      ...(failure === undefined ? {} : { failure }),
      ...(output === undefined ? {} : { output }),
      stdout: () => text(stdout),
      stderr: () => text(stderr),
      async save(destination, path) {
        if (output === undefined) throw new ClientError('not_found', `task ${id} left no output; see \`talko info ${id}\``)
        await download(ports, { root: output, ...(path === undefined ? {} : { path }) }, destination)
      }
    }
  }

  async function* watch(batch: string, options: { signal?: AbortSignal } = {}): AsyncGenerator<BatchView, void, undefined> {
    const stop = new AbortController()
    const signal = options.signal === undefined ? stop.signal : AbortSignal.any([stop.signal, options.signal])
    // Only the newest state is kept: a slow reader skips some.
    let latest: BatchView | undefined
    let news = Promise.withResolvers<void>()
    let over: { readonly error?: unknown } | undefined
    link
      .ask(
        { watch: { of: batch } },
        {
          signal,
          onBody: (body) => {
            latest = readBody(body, batchView)
            news.resolve()
          }
        }
      )
      .then(
        (body) => {
          latest = readBody(body, batchView)
          over = {}
        },
        (error: unknown) => {
          over = { error }
        }
      )
      .catch((error: unknown) => {
        over = { error }
      })
      .finally(() => news.resolve())
    try {
      for (;;) {
        await news.promise
        news = Promise.withResolvers()
        const view = latest
        latest = undefined
        if (view !== undefined) yield view
        if (over !== undefined && latest === undefined) {
          if ('error' in over) throw over.error
          return
        }
        if (over !== undefined || latest !== undefined) news.resolve()
      }
    } finally {
      stop.abort(new ClientError('interrupted', 'no longer watched'))
    }
  }

  const found = (of: string | Input, signal: AbortSignal | undefined): Promise<Input> | Input =>
    typeof of === 'string' ? findContent(ports, of, signal === undefined ? {} : { signal }) : of

  return {
    project,
    peerId: ports.host.peerId,
    async submitTask(spec) {
      const manifest = await resolveSpec(spec, {}, new Map())
      const policy = JSON.stringify([policyOf(spec.policy ?? DEFAULT_POLICY), labelsOf(spec.labels ?? {})])
      return new Promise((done, failed) => {
        waiting.push({ manifest, name: spec.name ?? '', policy, asked: spec, done, failed })
        if (!planned) ports.soon(sendWaiting)
        planned = true
      })
    },
    async getResults(options = {}) {
      const view = await results.take(options)
      return view === null ? null : result(view)
    },
    prepare,
    async comparator(spec, options = {}) {
      const [manifest = new Uint8Array(0)] = await prepare(
        [{ ...spec, resources: { ...COMPARATOR_RESOURCES, ...spec.resources }, compareStdout: false }],
        options
      )
      const checked = comparatorOf(manifest)
      if (typeof checked === 'string') throw new ClientError('usage', `the comparator: ${checked}`)
      return uploadBundle(ports, manifest, options)
    },
    submit,
    submitSweep: sweep,
    watch,
    async wait(batch, options = {}) {
      let last: BatchView | undefined
      for await (const view of watch(batch, options)) last = view
      if (last === undefined) throw new ClientError('refused', `the project said nothing about batch ${batch}`)
      return last
    },
    task: (of, options) => queryTask(link, of, options?.signal),
    difference: (a, b, options) => queryDifference(link, a, b, options?.signal),
    why: (of, options) => queryWhy(link, of, options?.signal),
    tasks: (batch, options) => queryTasks(link, batch, options),
    result,
    batches: (limit, options) => queryBatches(link, limit, options),
    nodes: (options) => queryNodes(link, options?.signal),
    info: (options) => queryProject(link, options?.signal, options?.programs === true ? 'programs' : ''),
    clients: (options) => queryClients(link, options?.signal),
    async grant(client, { settings = {}, member, signal }) {
      const asked = { client, settings: new Uint8Array(dagCbor.encode(settings)), ...(member === undefined ? {} : { member }) }
      return readBody(await link.ask({ grant: asked }, signal === undefined ? {} : { signal }), clientView)
    },
    credit: (of, limit, options) => queryCredit(link, of, limit, options?.signal),
    ledger: (options) => queryLedger(link, options?.signal),
    bans: (options) => queryBans(link, options?.signal),
    async ban({ kind, value }, { reason = '', lift = false, dryRun = false, signal } = {}) {
      return readBody(await link.ask({ ban: { kind, value, reason, lift, dryRun } }, signal === undefined ? {} : { signal }), banAnswer)
    },
    resolve: (of, options) => queryResolve(link, of, options?.signal),
    receipt: (of, options) => queryReceipt(link, of, options?.signal),
    kill: (of, options) => manage(link, 'kill', of, options),
    hold: (of, options) => manage(link, 'hold', of, options),
    release: (of, options) => manage(link, 'release', of, options),
    retry: (of, options) => manage(link, 'retry', of, { ...options, id: random.bytes(16) }),
    label: (of, set, options) => manage(link, 'label', of, { ...options, set }),
    events: (options) => followEvents(ports, options),
    logs: (of, options) => followLog(ports, of, options),
    async list(of, path = '', { attempt = 0, signal } = {}) {
      const question = { files: { verb: 'list', of, path, attempt, data: new Uint8Array() } }
      return readBody(await link.ask(question, signal === undefined ? {} : { signal }), filesView)
    },
    async write(of, path, content, { attempt = 0, signal } = {}) {
      const question = { files: { verb: 'write', of, path, attempt, data: new Uint8Array(content) } }
      return readBody(await link.ask(question, signal === undefined ? {} : { signal }), writtenView)
    },
    upload: (path, options) => upload(ports, path, options),
    importImage: (source, options) => uploadImage(ports, source, options),
    async make(entries, options = {}) {
      const items = entries.map(({ path, root }) => ({ path, root: cidOf(root).bytes as Uint8Array<ArrayBuffer> }))
      return readBody(await link.ask({ make: { entries: items, name: options.name ?? '' } }, options), made)
    },
    find: (text, options): Promise<Found> => findContent(ports, text, options),
    async get(of, destination, options = {}) {
      if (await ports.existsHere(destination)) throw new ClientError('refused', `${destination} exists already; choose a new path`)
      return download(ports, await found(of, options.signal), destination, options)
    },
    async *read(of, options = {}) {
      yield* readFileOf(ports, await found(of, options.signal), options)
    },
    names: async (kind) => listBook(await ports.names(), project, kind),
    async close() {
      results.close()
      await link.close()
      await ports.close()
    }
  }
}

function cidOf(text: string): CID {
  const cid = acceptCid(text)
  if (cid === undefined) throw new ClientError('usage', `${text} is not an id`)
  return cid
}

function once<T>(known: Map<string, Promise<T>>, key: string, make: () => Promise<T>): Promise<T> {
  const before = known.get(key)
  if (before !== undefined) return before
  const made = make()
  known.set(key, made)
  return made
}
