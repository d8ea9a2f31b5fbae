/**
 * The task's own system call filter, an allow-list. The engine's default leaves two holes in 20.10: AF_VSOCK sockets, which
 * no network namespace contains, and io_uring; newer engines differ again. Ours is the same everywhere.
 */
import { ALLOWED_SYSCALLS } from './syscalls.ts'

interface Rule {
  readonly names: readonly string[]
  readonly action: 'SCMP_ACT_ALLOW' | 'SCMP_ACT_ERRNO'
  readonly errnoRet?: number
  readonly args?: readonly { readonly index: number; readonly value: number; readonly valueTwo: number; readonly op: 'SCMP_CMP_EQ' | 'SCMP_CMP_MASKED_EQ' }[]
}

interface SeccompProfile {
  readonly defaultAction: 'SCMP_ACT_ERRNO'
  readonly defaultErrnoRet: number
  readonly archMap: readonly { readonly architecture: string; readonly subArchitectures: readonly string[] }[]
  readonly syscalls: readonly Rule[]
}

const EPERM = 1
const ENOSYS = 38
const AF_UNIX = 1
const AF_INET = 2
const AF_INET6 = 10
const AF_NETLINK = 16
/** CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET. */
const CLONE_NEW_ANY = 0x7e020000
/** PER_LINUX, PER_LINUX32, their UNAME26 forms, "tell me", and ADDR_NO_RANDOMIZE, which programs that must be bit-identical ask for. */
const PERSONALITIES = [0, 8, 0x20000, 0x20008, 0xffffffff, 0x40000]

const first = (value: number) => [{ index: 0, value, valueTwo: 0, op: 'SCMP_CMP_EQ' }] as const

/** The profile as Docker's API takes it (as JSON text inside a security option). Whatever is not named fails with EPERM; other architectures' calls (32-bit, x32) end the process. */
export const SECCOMP_PROFILE: SeccompProfile = {
  defaultAction: 'SCMP_ACT_ERRNO',
  defaultErrnoRet: EPERM,
  archMap: [
    { architecture: 'SCMP_ARCH_X86_64', subArchitectures: [] },
    { architecture: 'SCMP_ARCH_AARCH64', subArchitectures: [] }
  ],
  syscalls: [
    { names: ALLOWED_SYSCALLS, action: 'SCMP_ACT_ALLOW' },
    { names: ['clone'], action: 'SCMP_ACT_ALLOW', args: [{ index: 0, value: CLONE_NEW_ANY, valueTwo: 0, op: 'SCMP_CMP_MASKED_EQ' }] },
    // its flags lie in memory, where no filter can see them; C libraries fall back to clone
    { names: ['clone3'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
    ...[AF_UNIX, AF_INET, AF_INET6, AF_NETLINK].map((family): Rule => ({ names: ['socket'], action: 'SCMP_ACT_ALLOW', args: first(family) })),
    { names: ['socketpair'], action: 'SCMP_ACT_ALLOW', args: first(AF_UNIX) },
    ...PERSONALITIES.map((persona): Rule => ({ names: ['personality'], action: 'SCMP_ACT_ALLOW', args: first(persona) }))
  ]
}

export const SECCOMP_JSON: string = JSON.stringify(SECCOMP_PROFILE)
