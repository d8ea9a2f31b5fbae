/**
 * Content: adding and fetching one file of 1 GiB and a tree of 20,000 files of 4 KB, all in the page cache. Adding is beside `cp`
 * and `git add`; fetching, over one libp2p stream between two processes, beside the same stream without content (from the same
 * files into the same files, or from memory into nothing) and beside curl from nginx, which encrypts nothing and checks nothing. What is fetched goes to a file system in memory where there is one with
 * room, for all of them: how fast a disk takes a gigabyte says nothing about either.
 */
import { execFileSync, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, statfsSync, truncateSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openContentStore } from '#protocol/content/live/store'
import { nextMessage } from './child.ts'
import { pathInTree, TREE } from './content-bare.ts'
import type { Answer, Order } from './content-client.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, seconds } from './runner.ts'

const MB = 1e6
const FILE_BYTES = 1024 ** 3
/** git compresses everything at about 30 MB/s: a part of the file tells its rate as well. */
const GIT_FILE_BYTES = 128 * 1024 ** 2

interface Inputs {
  readonly file: string
  readonly partOfFile: string
  readonly tree: string
}

export async function run(context: BenchContext): Promise<BenchLine[]> {
  await context.ensure(['nginx-light', 'curl', 'git'])
  const inputs = makeInputs(context)
  return [...(await adding(context, inputs)), ...(await fetching(context, inputs))]
}

function makeInputs({ workFolder, log }: BenchContext): Inputs {
  log('making 1 GiB and 20,000 files')
  const folder = join(workFolder, 'inputs')
  const file = join(folder, 'file')
  const tree = join(folder, 'tree')
  const partOfFile = join(folder, 'part', 'file')
  mkdirSync(join(folder, 'part'), { recursive: true })
  const fd = openSync(file, 'w')
  for (let at = 0; at < FILE_BYTES; at += 1024 ** 2) writeSync(fd, randomBytes(1024 ** 2))
  closeSync(fd)
  copyFileSync(file, partOfFile)
  truncateSync(partOfFile, GIT_FILE_BYTES)
  for (let index = 0; index < TREE.files; index++) {
    const at = join(tree, pathInTree(index))
    if (index < TREE.folders) mkdirSync(dirname(at), { recursive: true })
    writeFileSync(at, randomBytes(TREE.fileBytes))
  }
  return { file, partOfFile, tree }
}

/**
 * Takes and gives back the memory that the files of a round need. A virtual machine hands unused memory to its host, and what
 * comes back of it costs up to two seconds a gigabyte: whichever side came next would pay.
 */
function warmMemory({ workFolder }: Pick<BenchContext, 'workFolder'>): void {
  const path = join(workFolder, 'warm')
  const piece = Buffer.alloc(1024 ** 2, 1)
  const fd = openSync(path, 'w')
  for (let at = 0; at < FILE_BYTES * 1.25; at += piece.length) writeSync(fd, piece)
  closeSync(fd)
  unlinkSync(path)
}

/** Runs `call` in a new folder that is removed afterwards, outside the time taken; the answer is `amount` per second. */
async function rate(context: Pick<BenchContext, 'workFolder'>, amount: number, call: (folder: string) => Promise<unknown>): Promise<number> {
  const folder = join(context.workFolder, 'round')
  mkdirSync(folder)
  warmMemory(context)
  try {
    return amount / (await seconds(() => call(folder)))
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

async function adding(context: BenchContext, { file, partOfFile, tree }: Inputs): Promise<BenchLine[]> {
  const add = (path: string, amount: number) => (): Promise<number> => {
    context.log(`adding ${path}`)
    return withOpenStore(context, (store) => seconds(() => store.addTree(path)).then((taken) => amount / taken))
  }
  const copy = (path: string, amount: number) => () => rate(context, amount, async (folder) => execFileSync('cp', ['-r', path, join(folder, 'copy')]))
  const git = (path: string, amount: number) => () =>
    rate(context, amount, async (folder) => {
      const repository = [`--git-dir=${join(folder, 'git')}`, `--work-tree=${path}`]
      execFileSync('git', [...repository, 'init', '-q'])
      execFileSync('git', [...repository, 'add', '.'], { cwd: path })
    })
  const large = add(file, FILE_BYTES / MB)
  const small = add(tree, TREE.files)
  return [
    benchLine({ name: 'content: add 1 GiB', unit: 'MB/s', peer: 'cp', must: '>= 0.2', ...(await alternate(context, large, copy(file, FILE_BYTES / MB))) }),
    benchLine({
      name: 'content: add 1 GiB',
      unit: 'MB/s',
      peer: 'git add (of 128 MiB)',
      must: '>= 5',
      ...(await alternate(context, large, git(join(partOfFile, '..'), GIT_FILE_BYTES / MB)))
    }),
    benchLine({
      name: 'content: add 20,000 files',
      unit: 'files/s',
      peer: 'cp -r',
      must: '>= 0.5',
      ...(await alternate(context, small, copy(tree, TREE.files)))
    }),
    benchLine({
      name: 'content: add 20,000 files',
      unit: 'files/s',
      peer: 'git add',
      must: '>= 2',
      ...(await alternate(context, small, git(tree, TREE.files)))
    })
  ]
}

type Store = Awaited<ReturnType<typeof openContentStore>>

async function withOpenStore<T>(context: Pick<BenchContext, 'workFolder'>, call: (store: Store) => Promise<T>): Promise<T> {
  const folder = join(context.workFolder, 'store')
  const store = await openContentStore(folder)
  try {
    return await call(store)
  } finally {
    await store.close()
    await rm(folder, { recursive: true, force: true })
  }
}

interface Server {
  readonly peer: string
  readonly addresses: readonly string[]
  readonly file: string
  readonly tree: string
  /** A few bytes. */
  readonly first: string
}

/** A serving and a fetching process of one side. */
interface Side {
  readonly server: Server
  /** Seconds. */
  fetch(order: Order): Promise<number>
  stop(): void
}

async function startSide(...serve: readonly string[]): Promise<Side> {
  const program = (name: string): string => fileURLToPath(new URL(`./${name}.ts`, import.meta.url))
  const serving = spawn(process.execPath, [program('content-peer'), ...serve], { stdio: ['ignore', 'pipe', 'inherit'] })
  const [line] = (await once(serving.stdout, 'data')) as [Buffer]
  const server = JSON.parse(line.toString()) as Server
  const fetching = fork(program('content-client'), [server.peer, ...server.addresses])
  const answer = async (): Promise<number> => {
    const got = await nextMessage<Answer>(fetching)
    if ('error' in got) throw new Error(got.error)
    return got.seconds
  }
  await answer()
  return {
    server,
    fetch(order) {
      fetching.send(order)
      return answer()
    },
    stop() {
      fetching.kill()
      serving.kill()
    }
  }
}

async function fetching(context: BenchContext, inputs: Inputs): Promise<BenchLine[]> {
  const nginx = await startNginx(context, join(inputs.file, '..'))
  const workFolder = inMemory() ?? context.workFolder
  const sides: Side[] = []
  try {
    sides.push(await startSide(join(context.workFolder, 'served'), inputs.file, inputs.tree), await startSide('bare', inputs.tree))
    const [talko, bare] = sides
    if (talko === undefined || bare === undefined) throw new Error('no sides')
    return await compareFetches({ ...context, workFolder }, { talko, bare, url: nginx.url })
  } finally {
    for (const side of sides) side.stop()
    nginx.stop()
    if (workFolder !== context.workFolder) await rm(workFolder, { recursive: true, force: true })
  }
}

function inMemory(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync('/dev/shm')
    return bavail * bsize > 3 * FILE_BYTES ? mkdtempSync('/dev/shm/talko-bench-') : undefined
  } catch {
    return undefined
  }
}

/** Fetches of each kind before those that count. */
const WARM_UP = 3

async function compareFetches(context: BenchContext, { talko, bare, url }: { talko: Side; bare: Side; url: string }): Promise<BenchLine[]> {
  const folder = join(context.workFolder, 'fetched')
  const { first, file, tree } = talko.server
  const treeBytes = TREE.files * (TREE.fileBytes + 4)
  const rateOf = (side: Side, amount: number, order: Order) => async () => {
    context.log(`${order.kind} ${order.kind === 'talko' ? order.root : ''}`)
    warmMemory(context)
    return amount / (await side.fetch(order))
  }
  const large = rateOf(talko, FILE_BYTES / MB, { kind: 'talko', first, root: file, folder })
  const small = rateOf(talko, TREE.files, { kind: 'talko', first, root: tree, folder })
  const bareLarge = rateOf(bare, FILE_BYTES / MB, { kind: 'bare', bytes: FILE_BYTES, frames: 'large' })
  const bareFiles = rateOf(bare, TREE.files, { kind: 'bare tree', folder })
  const bareMemory = rateOf(bare, TREE.files, { kind: 'bare', bytes: treeBytes, frames: 'joined' })
  const curlFile = () => rate(context, FILE_BYTES / MB, async (at) => execFileSync('curl', ['-s', '-o', join(at, 'file'), `${url}/file`]))
  const curlTree = () =>
    rate(context, TREE.files, async (at) => {
      const paths = Array.from({ length: TREE.files }, (_, index) => pathInTree(index))
      const config = paths.map((path) => `url = "${url}/tree/${path}"\noutput = "${join(at, path)}"`).join('\n')
      execFileSync('curl', ['-s', '--no-progress-meter', '-Z', '--parallel-max', '16', '--create-dirs', '-K', '-'], {
        input: config,
        stdio: ['pipe', 'ignore', 'ignore']
      })
    })
  // so that no side is measured while its code is still being compiled: a node's and a server's has been for days
  for (let round = 0; round < WARM_UP; round++) for (const warm of [large, bareLarge, small, bareFiles]) await warm()
  const line = async (name: string, unit: string, peer: string, must: string, ours: () => Promise<number>, theirs: () => Promise<number>): Promise<BenchLine> =>
    benchLine({ name: `content: fetch ${name}`, unit, peer, must, ...(await alternate(context, ours, theirs)) })
  return [
    await line('1 GiB', 'MB/s', 'bare libp2p stream', '>= 0.8', large, bareLarge),
    await line('1 GiB', 'MB/s', 'curl from nginx', '>= 0.1', large, curlFile),
    await line('20,000 files', 'files/s', 'bare libp2p stream, from and into the same files', '>= 0.8', small, bareFiles),
    await line('20,000 files', 'files/s', 'bare libp2p stream, from memory into nothing', '>= 0.1', small, bareMemory),
    await line('20,000 files', 'files/s', 'curl -Z from nginx', '>= 1', small, curlTree)
  ]
}

async function startNginx({ workFolder }: BenchContext, root: string): Promise<{ url: string; stop: () => void }> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const address = probe.address()
  const port = typeof address === 'object' ? address?.port : undefined
  probe.close()
  await once(probe, 'close')
  const config = join(workFolder, 'nginx.conf')
  const pid = join(workFolder, 'nginx.pid')
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  const paths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((name) => `${name}_temp_path ${join(workFolder, name)};`).join(' ')
  writeFileSync(
    config,
    `${user}worker_processes 1; daemon off; pid ${pid}; error_log stderr crit;\nevents { }\nhttp { sendfile on; keepalive_requests 100000; access_log off; ${paths} server { listen 127.0.0.1:${port}; root ${root}; } }\n`
  )
  const nginx = spawn('nginx', ['-c', config, '-e', 'stderr'], { stdio: ['ignore', 'ignore', 2] })
  const url = `http://127.0.0.1:${port}`
  execFileSync('curl', ['-s', '-o', '/dev/null', '--retry', '20', '--retry-delay', '1', '--retry-connrefused', url])
  return { url, stop: () => nginx.kill() }
}
