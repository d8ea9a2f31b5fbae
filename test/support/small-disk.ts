/** A command on a small disk of its own: a file system in memory that only it sees, and that goes when it ends. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const CHUNK = Buffer.alloc(64 * 1024)

export interface SmallDisk {
  readonly child: ChildProcess
  readonly lines: readonly string[]
  errors(): string
  /** Leaves not a byte free. */
  fill(): void
  /** Takes back what `fill` wrote. */
  free(): void
  /** A line on the command's stdin. */
  tell(line: string): void
  close(): Promise<void>
}

/** Runs a shell script with the disk mounted at `folder`, which is its `$1`; `args` are `$2` and on. Linux; without root it takes user namespaces. */
export async function onSmallDisk(folder: string, mebibytes: number, script: string, args: readonly string[]): Promise<SmallDisk> {
  await mkdir(folder)
  const shell = `mount -t tmpfs -o size=${mebibytes}m tmpfs "$1" || exit 99\n${script}`
  const child = spawn('unshare', [process.getuid?.() === 0 ? '-m' : '-rm', 'sh', '-c', shell, 'sh', folder, ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
    // A group of its own, to end all of it together.
    detached: true,
    env: { ...process.env, NODE_TEST_CONTEXT: '' }
  })
  const exited = once(child, 'exit')
  const lines: string[] = []
  let errors = ''
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line))
  child.stderr.on('data', (data: Buffer) => {
    errors += data.toString()
  })
  // The way into its file systems from outside.
  const filler = join(`/proc/${child.pid}/root`, folder, 'fill')
  return {
    child,
    lines,
    errors: () => errors,
    fill() {
      const file = openSync(filler, 'a')
      try {
        for (;;) writeSync(file, CHUNK)
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error
      } finally {
        closeSync(file)
      }
    },
    free: () => rmSync(filler),
    tell(line) {
      child.stdin.write(`${line}\n`)
    },
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return
      process.kill(-(child.pid ?? 0), 'SIGKILL')
      await exited
    }
  }
}
