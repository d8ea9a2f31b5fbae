import assert from 'node:assert/strict'
import { it } from 'node:test'
import { DEFAULT_RESOURCES, type RunManifest } from '#protocol/bundle/manifest'
import { cidOfBytes, DAG_CBOR } from '#protocol/content/cid'
import type { Execution } from '../ports.ts'
import { containerName, containerOptions, type Sandbox } from './options.ts'
import { SECCOMP_JSON, SECCOMP_PROFILE } from './seccomp.ts'

const manifest: RunManifest = {
  kind: 'run',
  v: 1,
  engine: 'docker',
  image: cidOfBytes(DAG_CBOR, new Uint8Array()),
  command: ['primes', '1', '9'],
  dependencies: [],
  environment: { LANG: 'fi_FI.UTF-8', MODE: 'a=b' },
  resources: DEFAULT_RESOURCES,
  network: 'none',
  compareStdout: false
}
const execution: Execution = { replica: 'abc.0.1', manifest, inputs: [{ name: 'data', path: '/srv/a:b' }], folder: '/srv/run' }
const sandbox: Sandbox = { node: 'node-a', image: 'sha256:1', volumes: [], out: '/srv/run/out', uid: 61_000, gid: 61_000, cores: 2 }

it('closes everything the task does not need', () => {
  const { HostConfig: host, ...options } = containerOptions(execution, sandbox)
  assert.equal(options.NetworkDisabled, true)
  assert.equal(host?.NetworkMode, 'none')
  assert.deepEqual(host?.CapDrop, ['ALL'])
  assert.deepEqual(host?.SecurityOpt, ['no-new-privileges:true', `seccomp=${SECCOMP_JSON}`])
  assert.equal(host?.ReadonlyRootfs, true)
  assert.equal(host?.MemorySwap, host?.Memory)
  assert.equal(options.User, '61000:61000')
  assert.equal(host?.Privileged ?? false, false)
  assert.deepEqual(
    host?.Mounts?.map(({ Target, ReadOnly }) => [Target, ReadOnly]),
    [
      ['/out', false],
      ['/in/data', true]
    ]
  )
})

it("runs the manifest's command and nothing of the image's own, in a fixed environment that the manifest may change", () => {
  const options = containerOptions(execution, sandbox)
  assert.deepEqual(options.Entrypoint, [])
  assert.deepEqual(options.Cmd, ['primes', '1', '9'])
  assert.ok(options.Env?.includes('LANG=fi_FI.UTF-8') && options.Env.includes('TZ=UTC') && options.Env.includes('MODE=a=b'))
  assert.equal(options.Hostname, 'task')
})

it('never lets an image have a volume on disk', () => {
  const { HostConfig: host } = containerOptions(execution, { ...sandbox, volumes: ['/data', '/data/', 'rel', '/out', '/tmp'] })
  const tmpfs = host?.Mounts?.filter(({ Type }) => Type === 'tmpfs').map(({ Target }) => Target)
  assert.deepEqual(tmpfs, ['/data', '/rel', '/tmp'])
  assert.equal(host?.Tmpfs, undefined)
})

it('keeps to what the machine has, and to what an engine can start', () => {
  const { HostConfig: host } = containerOptions(
    { ...execution, manifest: { ...manifest, resources: { cpuMillis: 64_000, memoryBytes: 2 ** 23, timeMs: 1, diskBytes: 0, pids: 1 } } },
    sandbox
  )
  assert.equal(host?.NanoCpus, 2e9)
  assert.equal(host?.PidsLimit, 16)
  assert.match(host?.Tmpfs?.['/tmp'] ?? '', /size=4096,/)
})

it('names a container by node and replica', () => {
  assert.match(containerName('node-a', 'abc.0.1'), /^talko-[0-9a-f]{12}-abc\.0\.1$/)
  assert.notEqual(containerName('node-a', 'abc.0.1'), containerName('node-b', 'abc.0.1'))
})

it('has an allow-list without the ways out of a sandbox', () => {
  const open = new Set(SECCOMP_PROFILE.syscalls.flatMap(({ names, args, action }) => (args === undefined && action === 'SCMP_ACT_ALLOW' ? names : [])))
  for (const name of [
    'io_uring_setup',
    'bpf',
    'mount',
    'unshare',
    'setns',
    'ptrace',
    'keyctl',
    'userfaultfd',
    'socket',
    'socketpair',
    'clone',
    'clone3',
    'init_module',
    'kexec_load',
    'open_by_handle_at',
    'clock_settime',
    'process_vm_readv',
    'personality',
    'reboot'
  ])
    assert.ok(!open.has(name), name)
  for (const name of ['read', 'openat', 'futex', 'execve', 'mmap', 'statx', 'renameat2', 'rseq']) assert.ok(open.has(name), name)
  const families = SECCOMP_PROFILE.syscalls.flatMap(({ names, args }) => (names.includes('socket') ? (args?.map(({ value }) => value) ?? []) : []))
  assert.deepEqual(families, [1, 2, 10, 16]) // no AF_VSOCK (40), no packets, no Bluetooth
})

it('shows the GPUs that the replica was leased, and no others', () => {
  assert.equal(containerOptions(execution, sandbox).HostConfig?.DeviceRequests, undefined)
  const [request, ...others] = containerOptions({ ...execution, gpus: ['GPU-1', 'GPU-2'] }, sandbox).HostConfig?.DeviceRequests ?? []
  assert.deepEqual(request?.DeviceIDs, ['GPU-1', 'GPU-2'])
  assert.deepEqual(others, [])
})
