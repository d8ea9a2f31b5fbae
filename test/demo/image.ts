/** A small root file system for the demo's tasks: busybox, and this folder's own Node with the libraries it needs. */
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Commands of busybox that scripts in the image may use. */
const APPLETS = ['sh', 'cat', 'echo', 'false', 'ls', 'mkdir', 'sleep', 'true', 'wc']
const BUSYBOX = ['/bin/busybox', '/usr/bin/busybox', '/usr/local/bin/busybox']

/** Writes the root file system into the empty `folder`. `node` is Node's own program file. */
export function writeImageRoot(folder: string, node: string): void {
  for (const path of ['bin', 'etc', 'tmp', 'proc', 'dev', 'sys', 'in', 'out']) mkdirSync(join(folder, path), { recursive: true })
  const busybox = BUSYBOX.find((path) => existsSync(path))
  if (busybox === undefined) throw new Error('busybox is missing; install it: sudo apt-get install -y busybox-static')
  install(folder, busybox, '/bin/busybox')
  for (const applet of APPLETS) symlinkSync('busybox', join(folder, 'bin', applet))
  install(folder, node, '/bin/node')
  writeFileSync(join(folder, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\ntask:x:1000:1000:task:/tmp:/bin/sh\n')
  writeFileSync(join(folder, 'etc/group'), 'root:x:0:\ntask:x:1000:\n')
}

/** Copies a program and the libraries its loader would look for, each to the place where it is here. */
function install(folder: string, source: string, path: string): void {
  copy(source, join(folder, path))
  for (const library of librariesOf(source)) {
    const target = join(folder, library)
    if (!existsSync(target)) copy(library, target)
  }
}

function copy(source: string, target: string): void {
  mkdirSync(dirname(target), { recursive: true })
  copyFileSync(realpathSync(source), target)
  chmodSync(target, 0o755)
}

/** Full paths, the loader among them; none for a program that is linked statically. */
function librariesOf(program: string): string[] {
  let listed: string
  try {
    listed = execFileSync('ldd', [program], { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  } catch {
    return []
  }
  return [...listed.matchAll(/(?:=> )?(\/\S+) \(0x/g)].map((match) => match[1] ?? '')
}
