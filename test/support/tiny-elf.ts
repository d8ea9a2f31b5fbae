/** The smallest Linux program for x86_64: one system call, whose negated answer is the exit code. For asking a sandbox what it allows, with no compiler at hand. */

const LOAD_ADDRESS = 0x400000
const HEADERS_BYTES = 64 + 56

/** `call` is the call's number and up to five arguments. */
export function programOf([number = 0, ...values]: readonly number[]): Uint8Array {
  const moves = [[0xbf], [0xbe], [0xba], [0x41, 0xba], [0x41, 0xb8]] // mov edi, esi, edx, r10d, r8d
  const code = Buffer.concat([
    ...moves.map((opcode, index) => Buffer.concat([Buffer.from(opcode), int32(values[index] ?? 0)])),
    Buffer.from([0xb8]),
    int32(number), // mov eax
    Buffer.from([0x0f, 0x05]), // syscall
    Buffer.from([0xf7, 0xd8, 0x89, 0xc7]), // neg eax; mov edi, eax
    Buffer.from([0xb8]),
    int32(60), // exit
    Buffer.from([0x0f, 0x05])
  ])
  const size = HEADERS_BYTES + code.length
  const bytes = Buffer.alloc(HEADERS_BYTES)
  bytes.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  bytes.writeUInt16LE(2, 16) // an executable
  bytes.writeUInt16LE(62, 18) // for x86_64
  bytes.writeUInt32LE(1, 20)
  bytes.writeBigUInt64LE(BigInt(LOAD_ADDRESS + HEADERS_BYTES), 24) // entry
  bytes.writeBigUInt64LE(64n, 32) // program headers
  bytes.writeUInt16LE(64, 52)
  bytes.writeUInt16LE(56, 54)
  bytes.writeUInt16LE(1, 56)
  bytes.writeUInt32LE(1, 64) // load
  bytes.writeUInt32LE(5, 68) // read and execute
  bytes.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 80)
  bytes.writeBigUInt64LE(BigInt(LOAD_ADDRESS), 88)
  bytes.writeBigUInt64LE(BigInt(size), 96)
  bytes.writeBigUInt64LE(BigInt(size), 104)
  bytes.writeBigUInt64LE(0x1000n, 112)
  return Buffer.concat([bytes, code])
}

/** The exit code of such a program whose call answered `result`. */
export function syscallExit(result: number): number {
  return -result & 0xff
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32LE(value | 0)
  return bytes
}
