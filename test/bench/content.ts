/**
 * Content: adding and fetching one file of 1 GiB and a tree of 20,000 files of 4 KB, all in the page cache. Adding is beside `cp`
 * and `git add`; fetching, over one libp2p stream between two processes, beside the same stream without content and beside curl
 * from nginx, which encrypts nothing and checks nothing. What is fetched goes to a file system in memory where there is one with
 * room, for all of them: how fast a disk takes a gigabyte says nothing about either.
 */
import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { closeSync, copyFileSync, mkdirSync, mkdtempSync, openSync, statfsSync, truncateSync, unlinkSync, writeFileSync, writeSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { acceptCid } from '#protocol/content/cid'
import { openContentStore } from '#protocol/content/live/store'
import type { Host } from '#protocol/peer/host'
import { createHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'
import { FRAME_BYTES, pullBare } from './content-bare.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, seconds } from './runner.ts'

const MB = 1e6
const FILE_BYTES = 1024 ** 3
/** git compresses everything at about 30 MB/s: a part of the file tells its rate as well. */
const GIT_FILE_BYTES = 128 * 1024 ** 2
const FILES = 20_000
const FILE_OF_TREE_BYTES = 4096

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
  for (let index = 0; index < FILES; index++) {
    const at = join(tree, `d${index % 200}`)
    if (index < 200) mkdirSync(at, { recursive: true })
    writeFileSync(join(at, `f${index}`), randomBytes(FILE_OF_TREE_BYTES))
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
  const small = add(tree, FILES)
  return [
    benchLine({ name: 'content: add 1 GiB', unit: 'MB/s', peer: 'cp', must: '>= 0.2', ...(await alternate(context, large, copy(file, FILE_BYTES / MB))) }),
    benchLine({
      name: 'content: add 1 GiB',
      unit: 'MB/s',
      peer: 'git add (of 128 MiB)',
      must: '>= 5',
      ...(await alternate(context, large, git(join(partOfFile, '..'), GIT_FILE_BYTES / MB)))
    }),
    benchLine({ name: 'content: add 20,000 files', unit: 'files/s', peer: 'cp -r', must: '>= 0.5', ...(await alternate(context, small, copy(tree, FILES))) }),
    benchLine({ name: 'content: add 20,000 files', unit: 'files/s', peer: 'git add', must: '>= 2', ...(await alternate(context, small, git(tree, FILES))) })
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

interface Peer {
  readonly peer: string
  readonly addresses: readonly string[]
  readonly file: string
  readonly tree: string
  /** A few bytes. */
  readonly first: string
}

async function fetching(context: BenchContext, inputs: Inputs): Promise<BenchLine[]> {
  const program = fileURLToPath(new URL('./content-peer.ts', import.meta.url))
  const server = spawn(process.execPath, [program, join(context.workFolder, 'served'), inputs.file, inputs.tree], { stdio: ['ignore', 'pipe', 'inherit'] })
  const nginx = await startNginx(context, join(inputs.file, '..'))
  const host = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer' })
  try {
    const [line] = (await once(server.stdout, 'data')) as [Buffer]
    const peer = JSON.parse(line.toString()) as Peer
    await host.connect(peer.peer, peer.addresses)
    const workFolder = inMemory() ?? context.workFolder
    try {
      return await fetchingFrom({ ...context, workFolder }, { host, peer, url: nginx.url })
    } finally {
      if (workFolder !== context.workFolder) await rm(workFolder, { recursive: true, force: true })
    }
  } finally {
    await host.stop()
    server.kill()
    nginx.stop()
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

async function fetchingFrom(context: BenchContext, { host, peer, url }: { host: Host; peer: Peer; url: string }): Promise<BenchLine[]> {
  const first = acceptCid(peer.first)
  if (first === undefined) throw new Error('no root')
  const fetch = (root: string, amount: number) => () => {
    context.log(`fetching ${root}`)
    const cid = acceptCid(root)
    if (cid === undefined) throw new Error('no root')
    return withOpenStore(context, async (store) => {
      // a store that has been open for longer has its writing thread
      await store.fetch(first, { host, from: [peer.peer] })
      warmMemory(context)
      return amount / (await seconds(() => store.fetch(cid, { host, from: [peer.peer] })))
    })
  }
  const bare = (bytes: number, frameBytes: number, amount: number) => async () => {
    warmMemory(context)
    return amount / (await seconds(() => pullBare(host, peer.peer, { bytes, frameBytes })))
  }
  const list = Array.from({ length: FILES }, (_, index) => `d${index % 200}/f${index}`)
  const treeBytes = FILES * (FILE_OF_TREE_BYTES + 4)
  const bareToFiles = () =>
    rate(context, FILES, async (folder) => {
      for (let index = 0; index < 200; index++) mkdirSync(join(folder, `d${index}`))
      const perFrame = FRAME_BYTES.joined / FILE_OF_TREE_BYTES
      const onFrame = (frame: Uint8Array, index: number): void => {
        for (const [at, path] of list.slice(index * perFrame, (index + 1) * perFrame).entries()) {
          writeFileSync(join(folder, path), frame.subarray(at * FILE_OF_TREE_BYTES, (at + 1) * FILE_OF_TREE_BYTES))
        }
      }
      await pullBare(host, peer.peer, { bytes: treeBytes, frameBytes: FRAME_BYTES.joined, onFrame })
    })
  const curlFile = () => rate(context, FILE_BYTES / MB, async (folder) => execFileSync('curl', ['-s', '-o', join(folder, 'file'), `${url}/file`]))
  const curlTree = () =>
    rate(context, FILES, async (folder) => {
      const config = list.map((path) => `url = "${url}/tree/${path}"\noutput = "${join(folder, path)}"`).join('\n')
      execFileSync('curl', ['-s', '--no-progress-meter', '-Z', '--parallel-max', '16', '--create-dirs', '-K', '-'], {
        input: config,
        stdio: ['pipe', 'ignore', 'ignore']
      })
    })
  const large = fetch(peer.file, FILE_BYTES / MB)
  const small = fetch(peer.tree, FILES)
  return [
    benchLine({
      name: 'content: fetch 1 GiB',
      unit: 'MB/s',
      peer: 'bare libp2p stream',
      must: '>= 0.8',
      ...(await alternate(context, large, bare(FILE_BYTES, FRAME_BYTES.large, FILE_BYTES / MB)))
    }),
    benchLine({ name: 'content: fetch 1 GiB', unit: 'MB/s', peer: 'curl from nginx', must: '>= 0.1', ...(await alternate(context, large, curlFile)) }),
    benchLine({
      name: 'content: fetch 20,000 files',
      unit: 'files/s',
      peer: 'bare libp2p stream into the same files',
      must: '>= 0.8',
      ...(await alternate(context, small, bareToFiles))
    }),
    benchLine({
      name: 'content: fetch 20,000 files',
      unit: 'files/s',
      peer: 'bare libp2p stream, no files',
      must: '>= 0.1',
      ...(await alternate(context, small, bare(treeBytes, FRAME_BYTES.joined, FILES)))
    }),
    benchLine({
      name: 'content: fetch 20,000 files',
      unit: 'files/s',
      peer: 'curl -Z from nginx',
      must: '>= 1',
      ...(await alternate(context, small, curlTree))
    })
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
