import assert from 'node:assert/strict'
import { it } from 'node:test'
import fc from 'fast-check'
import { type Exit, endReason, type StopCause, startFailure } from './end.ts'
import { LOOK_MS, LOOK_SHARE_MAX, nextLookMs } from './policy.ts'

const MEMORY = 1_000_000
const exit = (change: Partial<Exit> = {}): Exit => ({
  exitCode: 0,
  stopped: undefined,
  oomKilled: false,
  memoryPeakBytes: 0,
  memoryBytesMax: MEMORY,
  pidsRefused: false,
  diskBytes: 0,
  diskBytesMax: 1000,
  ...change
})

it('names the limit that ended a run', () => {
  assert.equal(endReason(exit()), 'exit')
  assert.equal(endReason(exit({ exitCode: 3 })), 'exit')
  assert.equal(endReason(exit({ exitCode: 137, oomKilled: true })), 'memory')
  assert.equal(endReason(exit({ exitCode: 137, memoryPeakBytes: MEMORY })), 'memory')
  assert.equal(endReason(exit({ exitCode: 2, pidsRefused: true })), 'pids')
  assert.equal(endReason(exit({ diskBytes: 1001 })), 'disk')
  assert.equal(endReason(exit({ exitCode: 153 })), 'disk')
})

it('does not blame memory or processes when the run coped', () => {
  assert.equal(endReason(exit({ exitCode: 3, oomKilled: true })), 'exit')
  assert.equal(endReason(exit({ exitCode: 0, pidsRefused: true })), 'exit')
  assert.equal(endReason(exit({ exitCode: 137, memoryPeakBytes: MEMORY / 2 })), 'exit')
})

it('says our own cause first, whatever else happened', () => {
  const anyExit = fc.record({ oomKilled: fc.boolean(), pidsRefused: fc.boolean(), diskBytes: fc.nat(2000), memoryPeakBytes: fc.nat(MEMORY) })
  const cause = fc.constantFrom<StopCause>('time', 'disk', 'pids', 'killed')
  fc.assert(fc.property(anyExit, cause, (facts, stopped) => endReason(exit({ ...facts, exitCode: 137, stopped })) === stopped))
})

it('believes a run that ended just before our KILL came', () => {
  assert.equal(endReason(exit({ exitCode: 0, stopped: 'time' })), 'exit')
  assert.equal(endReason(exit({ exitCode: 0, stopped: 'disk', diskBytes: 1001 })), 'disk')
  assert.equal(endReason(exit({ exitCode: 0, stopped: 'killed' })), 'killed')
})

it("tells the task's own faults at the start from the engine's", () => {
  const runc = 'OCI runtime create failed: container_linux.go:380: starting container process caused: exec:'
  assert.deepEqual(startFailure(`${runc} "nosuch": executable file not found in $PATH: unknown`), { reason: 'exit', exitCode: 127 })
  assert.deepEqual(startFailure(`${runc} "/etc/passwd": permission denied: unknown`), { reason: 'exit', exitCode: 126 })
  assert.deepEqual(startFailure('container init was OOM-killed (memory limit too low?): unknown'), { reason: 'memory', exitCode: 137 })
  assert.equal(startFailure(`${runc} "/sbin/docker-init": stat /sbin/docker-init: no such file or directory: unknown`), undefined)
  assert.equal(startFailure('error mounting "/x" to rootfs: operation not permitted'), undefined)
})

it('looks soon after the start, then every second, and never takes more than its share of a core', () => {
  assert.ok(nextLookMs(0, 0) < LOOK_MS)
  assert.equal(nextLookMs(50, 1), LOOK_MS)
  fc.assert(fc.property(fc.nat(100), fc.integer({ min: 1, max: 100_000 }), (looks, tookMs) => tookMs / nextLookMs(looks, tookMs) <= LOOK_SHARE_MAX))
})
