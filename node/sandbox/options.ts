/** A container for one replica, with everything closed that the task does not need. Pure: the same execution gives the same container everywhere. */
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import type { ContainerCreateOptions, MountSettings } from 'dockerode'
import type { PeerIdString, ReplicaId } from '#protocol/ids'
import type { Execution } from '../ports.ts'
import { ENGINE_LOG_BYTES, ENGINE_LOG_FILES, INIT_PIDS, OPEN_FILES_MAX, PIDS_MIN, SHM_BYTES_MAX, TMP_BYTES_MIN, TMP_INODES_MAX } from './policy.ts'
import { SECCOMP_JSON } from './seccomp.ts'

export const NODE_LABEL = 'talko.node'
export const REPLICA_LABEL = 'talko.replica'

export interface Sandbox {
  readonly node: PeerIdString
  /** Docker's id or name of the loaded image. */
  readonly image: string
  /** Paths the image declares as volumes: the engine would give each a place on disk without any limit. */
  readonly volumes: readonly string[]
  /** The host's folder shown at /out. */
  readonly out: string
  readonly uid: number
  readonly gid: number
  /** Cores of the engine's machine. */
  readonly cores: number
  readonly cgroupParent?: string
  readonly labels?: Readonly<Record<string, string>>
}

/** What the task sees whatever the image says; the manifest's environment comes over it. */
const ENVIRONMENT = { HOME: '/tmp', TZ: 'UTC', LANG: 'C.UTF-8', LC_ALL: 'C.UTF-8', SOURCE_DATE_EPOCH: '315532800' }

/** One container has one name, so that a replica cannot run twice in one engine. */
export function containerName(node: PeerIdString, replica: ReplicaId): string {
  return `${containerPrefix(node)}${replica}`
}

/** What the names of a node's containers begin with. */
export function containerPrefix(node: PeerIdString): string {
  return `talko-${createHash('sha256').update(node).digest('hex').slice(0, 12)}-`
}

/** Processes the command may have, with the engine's own. */
export function pidsLimit(pids: number): number {
  return Math.max(PIDS_MIN, pids + INIT_PIDS)
}

export function containerOptions(execution: Execution, sandbox: Sandbox): ContainerCreateOptions {
  const { command, environment, resources } = execution.manifest
  const { gpus } = execution
  const tmpBytes = Math.max(TMP_BYTES_MIN, Math.min(resources.diskBytes, resources.memoryBytes))
  const fileBytes = Math.max(TMP_BYTES_MIN, resources.diskBytes)
  const mounts: MountSettings[] = [
    { Type: 'bind', Source: sandbox.out, Target: '/out', ReadOnly: false, BindOptions: { Propagation: 'rprivate' } },
    ...execution.inputs.map(
      ({ name, path }): MountSettings => ({ Type: 'bind', Source: path, Target: `/in/${name}`, ReadOnly: true, BindOptions: { Propagation: 'rprivate' } })
    )
  ]
  const tmpIsVolume = sandbox.volumes.some((path) => posix.resolve('/', path) === '/tmp')
  for (const path of new Set(sandbox.volumes.map((volume) => posix.resolve('/', volume)))) {
    if (mounts.some(({ Target }) => Target === path)) continue
    mounts.push({ Type: 'tmpfs', Source: '', Target: path, ReadOnly: false, TmpfsOptions: { SizeBytes: tmpBytes, Mode: 0o1777 } } as MountSettings)
  }
  return {
    name: containerName(sandbox.node, execution.replica),
    Image: sandbox.image,
    Entrypoint: [],
    Cmd: [...command],
    User: `${sandbox.uid}:${sandbox.gid}`,
    WorkingDir: '/out',
    Hostname: 'task',
    Domainname: '',
    Env: Object.entries({ ...ENVIRONMENT, ...environment }).map(([name, value]) => `${name}=${value}`),
    Labels: { ...sandbox.labels, [NODE_LABEL]: sandbox.node, [REPLICA_LABEL]: execution.replica },
    NetworkDisabled: true, // with mode `none` alone the engine still builds a network sandbox: 95 ms
    Healthcheck: { Test: ['NONE'] },
    StopSignal: 'SIGTERM',
    AttachStdout: true,
    AttachStderr: true,
    HostConfig: {
      NetworkMode: 'none',
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges:true', `seccomp=${SECCOMP_JSON}`],
      ReadonlyRootfs: true,
      Init: true,
      IpcMode: 'private',
      PidsLimit: pidsLimit(resources.pids),
      Memory: resources.memoryBytes,
      MemorySwap: resources.memoryBytes, // equal: no swap
      NanoCpus: Math.min(Math.max(resources.cpuMillis, 10), sandbox.cores * 1000) * 1e6,
      ShmSize: Math.min(SHM_BYTES_MAX, resources.memoryBytes),
      OomScoreAdj: 500,
      RestartPolicy: { Name: 'no' },
      Ulimits: [
        { Name: 'core', Soft: 0, Hard: 0 },
        { Name: 'nofile', Soft: OPEN_FILES_MAX, Hard: OPEN_FILES_MAX },
        { Name: 'fsize', Soft: fileBytes, Hard: fileBytes }
      ],
      Mounts: mounts,
      ...(gpus !== undefined && { DeviceRequests: [{ Driver: '', DeviceIDs: [...gpus], Capabilities: [['gpu', 'compute', 'utility']] }] }),
      ...(!tmpIsVolume && { Tmpfs: { '/tmp': `rw,exec,nosuid,nodev,size=${tmpBytes},nr_inodes=${TMP_INODES_MAX},mode=1777` } }),
      LogConfig: { Type: 'local', Config: { 'max-size': ENGINE_LOG_BYTES, 'max-file': ENGINE_LOG_FILES, compress: 'false' } },
      ...(sandbox.cgroupParent !== undefined && { CgroupParent: sandbox.cgroupParent })
    }
  }
}
