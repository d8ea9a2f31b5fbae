/**
 * `npm test [-- FILE...]`: all `*.test.ts`, or those named. Files run side by side, as many as there are cores and at most
 * four, since those with containers load the machine beyond their own process. The longest begin first: one that begins last
 * keeps everybody waiting for it alone.
 */
import { globSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from 'node:test'
import { spec } from 'node:test/reporters'

const FILES_AT_ONCE_MAX = 4
/** A test that hangs fails with its name instead of keeping CI busy. */
const TEST_MS_MAX = 300_000
/** What keeps a process alive after its last test is not a test; this ends it, and the run fails. */
const ALL_MS_MAX = 1_200_000
const ALL = '{protocol,project-server,node,relay,client-cli,sim,test,scripts}/**/*.test.ts'
/** Ten seconds and more on two cores: first those that take a minute, of which each loads the machine with a dozen processes, and beside them such as compute by themselves. */
const LONGEST: readonly string[] = [
  'test/nat/volunteers.test.ts',
  'sim/protocol.test.ts',
  'project-server/coordinator/interleavings.test.ts',
  'test/nat/relays.test.ts',
  'sim/population/world.test.ts',
  'test/e2e/coordinator-crash.test.ts',
  'test/e2e/checkpoint.test.ts',
  'test/e2e/lying-node.test.ts',
  'test/nat/side-by-side.test.ts',
  'test/e2e/faults.test.ts',
  'project-server/coordinator/populations.test.ts',
  'test/e2e/containers.test.ts',
  'test/e2e/cli.test.ts',
  'node/main.test.ts',
  'node/live/docker/executor.test.ts',
  'test/e2e/live.test.ts',
  'test/e2e/crash-log.test.ts',
  'test/e2e/one-upload.test.ts',
  'test/experiments/failing.test.ts',
  'test/e2e/relays.test.ts',
  'test/e2e/locality.test.ts',
  'test/e2e/straggler.test.ts',
  'test/e2e/full-disk.test.ts',
  'test/e2e/credit.test.ts',
  'test/e2e/dag.test.ts',
  'test/e2e/process-engine.test.ts',
  'sim/stack/stack.test.ts'
]
const root = resolve(import.meta.dirname, '..')
/** Every test file is a process, and many start programs: compiled code that they keep for each other saves a third of what it costs to start one. */
const COMPILED = join(root, 'node_modules', '.cache', 'compiled')

process.env.NODE_COMPILE_CACHE ??= COMPILED
const named = process.argv.slice(2)
const all = globSync(ALL, { cwd: root })
const gone = LONGEST.filter((file) => !all.includes(file))
if (gone.length > 0) throw new Error(`scripts/test.ts names test files that are not there: ${gone.join(', ')}`)
const which = named.length > 0 ? { globPatterns: named } : { files: [...LONGEST, ...all.filter((file) => !LONGEST.includes(file)).sort()] }
const ended = AbortSignal.timeout(ALL_MS_MAX)
run({ ...which, cwd: root, concurrency: Math.min(FILES_AT_ONCE_MAX, availableParallelism()), timeout: TEST_MS_MAX, signal: ended })
  .on('test:fail', () => {
    process.exitCode = 1
  })
  .compose(new spec())
  .pipe(process.stdout)
process.on('exit', () => {
  if (ended.aborted) console.error(`the tests were ended: they took longer than ${ALL_MS_MAX / 60_000} minutes`)
})
