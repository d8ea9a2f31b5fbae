import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { type Engine, encodeManifest, manifestCidText, type RunManifest } from '#protocol/bundle/manifest'
import { cidOfBytes, DAG_CBOR, RAW } from '#protocol/content/cid'
import { ContentError } from '#protocol/content/content'
import { encodeImage } from '#protocol/image/image'
import type { Host } from '#protocol/peer/host'
import { ComparatorError, Comparators } from './comparators.ts'
import type { Candidate } from './coordinator/events.ts'
import type { ProgramEnd, Programs } from './ports.ts'

const rootOf = (text: string): CID => cidOfBytes(RAW, Buffer.from(text))
const candidate = (text: string, stdout: string | null = null): Candidate => ({
  vote: text,
  nodes: [],
  output: rootOf(text).toString(),
  stdout: stdout === null ? null : rootOf(stdout).toString()
})
const IMAGE = (platform: string): Uint8Array => {
  const [os, architecture, variant] = platform.split('/')
  const config = Buffer.from(JSON.stringify({ os, architecture, variant, rootfs: { diff_ids: [] } }))
  return encodeImage({ kind: 'image', v: 1, config, layers: [], diffIds: [], platform })
}
const ENDED: ProgramEnd = { reason: 'exit', exitCode: 0, said: '' }

type Run = Parameters<Programs['run']>[0]

function setUp({
  here = [],
  engines = ['docker', 'process'],
  trouble = '',
  end = ENDED
}: Partial<{ here: readonly string[]; engines: readonly Engine[]; trouble: string; end: ProgramEnd | Error | ((run: Run) => ProgramEnd) }> = {}) {
  const blocks = new Map<string, Uint8Array>()
  const runs: Run[] = []
  const programs: Programs = {
    engines,
    platform: 'linux/amd64',
    async begin() {},
    trouble: async () => trouble,
    async run(program) {
      runs.push(program)
      if (end instanceof Error) throw end
      return typeof end === 'function' ? end(program) : end
    },
    async stop() {}
  }
  const places = new Set(here.map((text) => rootOf(text).toString()))
  const content = {
    has: (root: CID) => blocks.has(root.toString()) || places.has(root.toString()),
    getBlock: async (root: CID) => blocks.get(root.toString()),
    locate: (root: CID) => (places.has(root.toString()) ? `/store/${root}` : undefined),
    fetch: async () => ({ bytes: 0 }),
    async list(root: CID) {
      if (root.equals(rootOf('a file'))) throw new ContentError('not_a_directory', 'it is a file')
      return []
    },
    async *read(root: CID) {
      if (root.equals(rootOf('a folder'))) throw new ContentError('bad_tree', 'it is a folder')
      yield new Uint8Array(1)
    }
  }
  const add = (change: Partial<RunManifest> = {}): string => {
    const bytes = encodeManifest({ ...BASE, ...change })
    blocks.set(manifestCidText(bytes), bytes)
    return manifestCidText(bytes)
  }
  const addImage = (platform: string): CID => {
    const cid = cidOfBytes(DAG_CBOR, IMAGE(platform))
    blocks.set(cid.toString(), IMAGE(platform))
    return cid
  }
  const host = {} as Host
  return { add, addImage, runs, comparators: new Comparators({ content, host, programs }), none: new Comparators({ content, host }) }
}

const BASE: RunManifest = {
  kind: 'run',
  v: 1,
  engine: 'process',
  image: null,
  command: ['cmp'],
  dependencies: [],
  environment: {},
  resources: { cpuMillis: 1000, memoryBytes: 64 * 1024 ** 2, timeMs: 60_000, diskBytes: 0, pids: 16 },
  network: 'none',
  compareStdout: false
}
const NEVER = new AbortController().signal

describe('a program that compares', () => {
  it('gets the two outputs, the one whose vote comes first as a, what they printed where it counts, and its own inputs', async () => {
    const { add, runs, comparators } = setUp({ here: ['x', 'y', 'said x', 'said y', 'code'] })
    const bundle = add({ dependencies: [{ name: 'code', root: rootOf('code'), path: '', executables: ['run'] }] })
    const [x, y] = [candidate('x', 'said x'), candidate('y', 'said y')]
    assert.deepEqual([await comparators.agree(bundle, x, y, NEVER), await comparators.agree(bundle, y, x, NEVER)], [true, true])
    const at = (text: string): string => `/store/${rootOf(text)}`
    const seen = { code: at('code'), a: at('x'), b: at('y'), 'a.stdout': at('said x'), 'b.stdout': at('said y') }
    for (const { inputs } of runs) assert.deepEqual(Object.fromEntries(inputs.map(({ name, path }) => [name, path])), seen)
    await comparators.agree(bundle, candidate('x'), candidate('y'), NEVER)
    assert.deepEqual(
      runs.at(-1)?.inputs.map(({ name }) => name),
      ['code', 'a', 'b']
    )
  })

  it('never sees what no honest node can have made: that agrees with nothing', async () => {
    const { add, runs, comparators } = setUp({ here: ['x', 'a file', 'said'] })
    const bundle = add()
    assert.equal(await comparators.agree(bundle, candidate('x'), candidate('a file'), NEVER), false)
    assert.equal(await comparators.agree(bundle, candidate('x', 'said'), candidate('y', 'a folder'), NEVER), false)
    assert.equal(runs.length, 0)
  })

  it('is at fault itself with any status but 0 and 1, at a limit, and where its image is broken; what it said is told', async () => {
    const faultOf = async (end: ProgramEnd | Error): Promise<readonly [string, string]> => {
      const { add, comparators } = setUp({ here: ['x', 'y'], end })
      const error = await comparators.agree(add(), candidate('x'), candidate('y'), NEVER).catch((error: unknown) => error)
      assert.ok(error instanceof ComparatorError)
      return [error.of, error.message]
    }
    const other = setUp({ here: ['x', 'y'], end: { ...ENDED, exitCode: 1 } })
    assert.equal(await other.comparators.agree(other.add(), candidate('x'), candidate('y'), NEVER), false)
    const status = await faultOf({ reason: 'exit', exitCode: 2, said: 'no such file' })
    assert.equal(status[0], 'program')
    assert.match(status[1], /exit status 2, .*: no such file$/)
    for (const [reason, words] of [
      ['time', /its time limit/],
      ['memory', /its memory limit/],
      ['hang', /no sign of life/],
      ['image', /image cannot be loaded/]
    ] as const) {
      const [of, message] = await faultOf({ reason, exitCode: 0, said: '' })
      assert.equal(of, 'program')
      assert.match(message, words)
    }
    assert.deepEqual(await faultOf(new Error('the engine does not answer')), ['project', 'the engine does not answer'])
  })

  it('is not at fault for what it cannot compare with itself, when it can the other: that agrees with nothing', async () => {
    const choking = (rubbish: readonly string[]) => (run: Run) => ({
      ...ENDED,
      exitCode: run.inputs.some(({ path }) => rubbish.some((text) => path === `/store/${rootOf(text)}`)) ? 2 : 0
    })
    const asked = async (rubbish: readonly string[]): Promise<readonly [boolean | string, number]> => {
      const { add, comparators, runs } = setUp({ here: ['x', 'y'], end: choking(rubbish) })
      const answer = await comparators.agree(add(), candidate('x'), candidate('y'), NEVER).catch((error: ComparatorError) => error.of)
      return [answer, runs.length]
    }
    assert.deepEqual(await asked([]), [true, 1])
    assert.deepEqual(
      [await asked(['x']), await asked(['y'])],
      [
        [false, 3],
        [false, 3]
      ]
    )
    assert.deepEqual(await asked(['x', 'y']), ['program', 3])
    const together = setUp({ here: ['x', 'y'], end: ({ inputs }) => ({ ...ENDED, exitCode: new Set(inputs.map(({ path }) => path)).size === 1 ? 0 : 2 }) })
    await assert.rejects(together.comparators.agree(together.add(), candidate('x'), candidate('y'), NEVER), { name: 'ComparatorError', of: 'program' })
  })

  it('that gave an answer before is not at fault for two outputs that it cannot read: two liars cannot stop it', async () => {
    const rubbish = new Set(['x', 'y'].map((text) => `/store/${rootOf(text)}`))
    const { add, comparators } = setUp({
      here: ['x', 'y', 'right'],
      end: ({ inputs }) => ({ ...ENDED, exitCode: inputs.some(({ path }) => rubbish.has(path)) ? 2 : 0 })
    })
    const bundle = add()
    const ask = (a: string, b: string): Promise<boolean> => comparators.agree(bundle, candidate(a), candidate(b), NEVER)
    await assert.rejects(ask('x', 'y'), { name: 'ComparatorError', of: 'program' })
    assert.equal(await ask('x', 'right'), false)
    assert.equal(await ask('x', 'y'), false)
  })

  it('an output that has gone is neither its fault nor the project’s', async () => {
    const { add, comparators } = setUp({ here: ['x'] })
    await assert.rejects(comparators.agree(add(), candidate('x'), candidate('y'), NEVER), { name: 'ContentError', code: 'not_found' })
  })

  it('is refused when it is submitted where it cannot be run, with what to do', async () => {
    const { add, addImage, comparators, none } = setUp({ engines: ['docker'] })
    const refused = async (of: Comparators, bundle: string, code: string, words: RegExp): Promise<void> => {
      const refusal = await of.refusal(bundle)
      assert.equal(refusal?.code, code)
      assert.match(refusal?.message ?? '', words)
    }
    const docker = (change: Partial<RunManifest> = {}): string => add({ engine: 'docker', image: addImage('linux/amd64'), ...change })
    assert.equal(await comparators.refusal(docker()), undefined)
    assert.equal(await comparators.refusal(docker({ image: addImage('linux/amd64/v3') })), undefined)
    await refused(none, docker(), 'malformed', /runs no programs of its clients.*"programs"/)
    await refused(setUp({ engines: [] }).comparators, docker(), 'malformed', /runs no programs/)
    await refused(comparators, manifestCidText(encodeManifest({ ...BASE, command: ['other'] })), 'missing_content', /does not hold the comparator/)
    await refused(comparators, add(), 'malformed', /needs the engine process/)
    await refused(comparators, docker({ image: addImage('linux/arm64') }), 'malformed', /for linux\/arm64, and the project's machine is linux\/amd64/)
    await refused(
      comparators,
      docker({ dependencies: [{ name: 'code', root: rootOf('gone'), path: 'x', executables: [] }] }),
      'malformed',
      /its input code has no x/
    )
    const down = setUp({ trouble: 'Docker does not answer' })
    await refused(down.comparators, down.add(), 'malformed', /cannot run programs now: Docker does not answer/)
    assert.deepEqual(await none.state(), { engines: [], platform: '', trouble: '' })
    assert.deepEqual(await down.comparators.state(), { engines: ['docker', 'process'], platform: 'linux/amd64', trouble: 'Docker does not answer' })
  })
})
