/**
 * `npm test [-- FILE...]`: all `*.test.ts`, or those named. Files run side by side, as many as there are cores and at most
 * four, since those with containers load the machine beyond their own process.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

const FILES_AT_ONCE_MAX = 4
/** A test that hangs fails with its name instead of keeping CI busy. */
const TEST_MS_MAX = 300_000
/** What keeps a process alive after its last test is not a test; this ends it, and the run fails. */
const ALL_MS_MAX = 1_200_000
const ALL = '{protocol,project-server,node,relay,client-cli,sim,test,scripts}/**/*.test.ts'

const named = process.argv.slice(2)
const { status, signal } = spawnSync(
  process.execPath,
  [
    '--test',
    `--test-concurrency=${Math.min(FILES_AT_ONCE_MAX, availableParallelism())}`,
    `--test-timeout=${TEST_MS_MAX}`,
    ...(named.length === 0 ? [ALL] : named)
  ],
  { stdio: 'inherit', timeout: ALL_MS_MAX }
)
if (signal !== null) console.error(`the tests were ended by ${signal}: they took longer than ${ALL_MS_MAX / 60_000} minutes, or were stopped`)
process.exitCode = status ?? 1
