import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { encodeManifest, manifestCidText, type RunManifest } from '../bundle/manifest.ts'
import { DEFAULT_POLICY, policyFault } from '../bundle/policy.ts'
import { cidOfBytes, RAW } from '../content/cid.ts'
import { answerOf, COMPARED_NAMES, comparatorOf } from './program.ts'

const BASE: RunManifest = {
  kind: 'run',
  v: 1,
  engine: 'process',
  image: null,
  command: ['cmp', '/in/a', '/in/b'],
  dependencies: [],
  environment: {},
  resources: { cpuMillis: 1000, memoryBytes: 64 * 1024 ** 2, timeMs: 60_000, diskBytes: 0, pids: 16 },
  network: 'none',
  compareStdout: false
}
const data = (name: string) => ({ name, root: cidOfBytes(RAW, Buffer.from('x')), path: '', executables: [] })

it('0 is equal, 1 is different, and nothing else is an answer', () => {
  const ends = fc.record({ reason: fc.constantFrom('exit', 'time', 'memory', 'disk', 'pids', 'killed', 'hang', 'image'), exitCode: fc.nat({ max: 255 }) })
  fc.assert(
    fc.property(ends, (end) => {
      const said = answerOf(end)
      assert.equal(said, end.reason === 'exit' && end.exitCode < 2 ? end.exitCode === 0 : undefined)
    })
  )
})

it('a comparator is a bundle that is small, needs no GPU and leaves the names of the outputs alone', () => {
  const said = (change: Partial<RunManifest>): RunManifest | string => comparatorOf(encodeManifest({ ...BASE, ...change }))
  const checked = said({ dependencies: [data('code')] })
  assert.deepEqual(typeof checked === 'string' ? checked : checked.dependencies.map(({ name }) => name), ['code'])
  for (const name of COMPARED_NAMES) assert.match(String(said({ dependencies: [data(name)] })), /has the name of what it compares/)
  assert.match(String(said({ gpus: { count: 1, memoryBytes: 0, model: '', driver: '' } })), /GPUs/)
  assert.match(String(said({ resources: { ...BASE.resources, timeMs: 600_001 } })), /600 s at most/)
  assert.match(String(said({ resources: { ...BASE.resources, memoryBytes: 2 ** 40 } })), /memory/)
  assert.match(String(said({ resources: { ...BASE.resources, cpuMillis: 4_000 } })), /2 at most/)
  assert.match(String(said({ resources: { ...BASE.resources, diskBytes: 2 ** 40 } })), /disk/)
  assert.match(String(comparatorOf(Buffer.from('no bundle'))), /it is no bundle/)
})

it('a policy names it by the id of its manifest, and by nothing else', () => {
  const fault = (compare: unknown): string | undefined => policyFault({ ...DEFAULT_POLICY, compare: compare as typeof DEFAULT_POLICY.compare })
  const bundle = manifestCidText(encodeManifest(BASE))
  assert.equal(fault({ kind: 'program', bundle }), undefined)
  for (const wrong of ['', 'compare.yaml', bundle.toUpperCase(), cidOfBytes(RAW, Buffer.from('x')).toString()])
    assert.match(fault({ kind: 'program', bundle: wrong }) ?? '', /is no bundle/)
  for (const wrong of [{ kind: 'program' }, { kind: 'program', bundle: 7 }, { kind: 'program', bundle, rules: [] }, { kind: 'tolerance', bundle }, 'program'])
    assert.match(fault(wrong) ?? '', /a comparison is/)
})
