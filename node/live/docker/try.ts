import { mkdir, mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DEFAULT_RESOURCES, type RunManifest } from '#protocol/bundle/manifest'
import { fakeStore } from '../../../protocol/image/live/fake-store.ts'
import { importBusybox } from '#test/support/busybox-image'
import { createDockerExecutor } from './executor.ts'
const work = await mkdtemp('/tmp/dk/w-')
const store = fakeStore()
const { image } = await importBusybox(store, work)
const ex = await createDockerExecutor({ store, nodeId: 'trynode', folder: work, labels: { 'talko.test': '1' }, logger: { warn: console.warn } as never })
await ex.probe()
const manifest = (cmd: string[], res = {}): RunManifest => ({ kind: 'run', v: 1, engine: 'docker', image, command: cmd, dependencies: [], environment: { A: 'b' }, network: 'none', compareStdout: false, resources: { ...DEFAULT_RESOURCES, memoryBytes: 256 << 20, timeMs: 20000, diskBytes: 64 << 20, pids: 64, ...res } })
let n = 0
async function go(cmd: string[], res = {}) {
  const m = manifest(cmd, res)
  const replica = `try.${n++}.1`
  const folder = join(work, replica); await mkdir(folder)
  const t = performance.now()
  await ex.prepare(m, new AbortController().signal)
  const t1 = performance.now()
  const run = await ex.start({ replica, manifest: m, inputs: [], folder })
  const t2 = performance.now()
  const e = await run.ended
  const t3 = performance.now()
  await ex.remove(replica)
  const t4 = performance.now()
  console.log(cmd.join(' ').slice(0, 80), '\n  ', JSON.stringify({ ...e, startedAtMs: 0, endedAtMs: e.endedAtMs - e.startedAtMs }), 'prep', (t1 - t) | 0, 'start', (t2 - t1) | 0, 'end', (t3 - t2) | 0, 'rm', (t4 - t3) | 0)
  console.log('   out:', (await readFile(join(folder, 'stdout'), 'utf8')).slice(0, 600), '| err:', (await readFile(join(folder, 'stderr'), 'utf8')).slice(0, 300))
}
const sh = (s: string, res = {}) => go(['sh', '-c', s], res)
if (process.argv[2]) await sh(process.argv[2])
else {
await go(['true']); await go(['true']); await go(['true'])
await sh('id; pwd; env; touch x; ls -la / /out; echo err >&2; grep -E "Cap|NoNew|Seccomp" /proc/self/status')
await go(['nosuch']); await go(['/etc/passwd'])
await sh('b() { b | b & b | b & wait; }; b 2>/dev/null', { timeMs: 20000 })
await sh('for i in $(seq 1 200); do sleep 5 & done')
await sh('dd if=/dev/zero of=/dev/null bs=1000M count=1')
await sh('tail /dev/zero')
await sh('sleep 100', { timeMs: 500 })
await sh('dd if=/dev/zero of=/out/x bs=1M count=200; echo $?')
await sh('i=0; while true; do dd if=/dev/zero of=/out/x$i bs=1M count=1 2>/dev/null; i=$((i+1)); done')
await sh('yes')
await sh('dd if=/dev/zero of=/tmp/x bs=1M; df -h /tmp; echo a > /tmp/a; chmod +x /tmp/a; exit 3')
await go(['true'], { pids: 1 })
await go(['true'], { memoryBytes: 8 << 20 })
await go(['true'], { diskBytes: 0 })
}
await ex.stop()
