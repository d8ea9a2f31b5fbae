/** What this machine has to lend. */
import { statfs } from 'node:fs/promises'
import { arch, availableParallelism, platform, totalmem } from 'node:os'
import type { Capabilities } from '#protocol/control/messages'
import type { NodeSettings } from '../settings.ts'

/** Docker's names for what Node calls otherwise. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' }

/** Settings first, then what the machine says. */
export async function capabilitiesOf(
  settings: NodeSettings,
  { dir, engines }: { readonly dir: string; readonly engines: readonly string[] }
): Promise<Capabilities> {
  const disk = await statfs(dir)
  // Docker runs Linux containers on every system.
  const system = engines.includes('docker') ? 'linux' : platform()
  return {
    platform: `${system}/${ARCHITECTURES[arch()] ?? arch()}`,
    engines: [...engines],
    cpuMillis: settings.cpuMillis ?? availableParallelism() * 1000,
    memoryBytes: settings.memoryBytes ?? totalmem(),
    diskBytes: disk.bavail * disk.bsize,
    slots: settings.slots,
    tags: [],
    exclusive: [],
    gpus: [],
    ownerOnly: false
  }
}
