/** What this machine has to lend. */
import { readFile, statfs } from 'node:fs/promises'
import { arch, availableParallelism, cpus, platform, totalmem } from 'node:os'
import type { Capabilities, Gpu } from '#protocol/control/messages'
import type { NodeSettings } from '../settings.ts'

/** Docker's names for what Node calls otherwise. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64', arm: 'arm', ia32: '386' }

/** Settings first, then what the machine says. */
export async function capabilitiesOf(
  settings: NodeSettings,
  { dir, engines, gpus }: { readonly dir: string; readonly engines: readonly string[]; readonly gpus: readonly Gpu[] }
): Promise<Capabilities> {
  const disk = await statfs(dir)
  return {
    platform: platformWith(engines),
    cpu: await cpuOf(),
    cores: coresHere(),
    engines: [...engines],
    cpuMillis: settings.cpuMillis ?? coresHere() * 1000,
    memoryBytes: settings.memoryBytes ?? totalmem(),
    diskBytes: disk.bavail * disk.bsize,
    slots: settings.slots,
    tags: [...(settings.tags ?? [])],
    exclusive: [...(settings.exclusiveTags ?? [])],
    gpus: [...gpus],
    ownerOnly: settings.ownerOnly ?? false,
    groups: [...(settings.groups ?? [])],
    ...(settings.owner === undefined
      ? {}
      : { owner: { client: settings.owner.client, signature: new Uint8Array(Buffer.from(settings.owner.signature, 'base64')) } })
  }
}

/** That this process may use. */
export function coresHere(): number {
  return availableParallelism()
}

/** System and architecture of what these engines run here, in Docker's words. */
export function platformWith(engines: readonly string[]): string {
  // Docker runs Linux containers on every system.
  const system = engines.includes('docker') ? 'linux' : platform()
  return `${system}/${ARCHITECTURES[arch()] ?? arch()}`
}

/** Vendor and family, as "GenuineIntel 6", or "0x41 0xd0c" (implementer and part) of ARM; where the system does not tell, the model's name. */
async function cpuOf(): Promise<string> {
  const info = await readFile('/proc/cpuinfo', 'utf8').catch(() => '')
  const field = (name: string): string | undefined => new RegExp(`^${name}\\s*: *(.+)$`, 'm').exec(info)?.[1]
  const parts = [field('vendor_id') ?? field('CPU implementer'), field('cpu family') ?? field('CPU part')].filter((part) => part !== undefined)
  return parts.length > 0 ? parts.join(' ') : (cpus()[0]?.model ?? '')
}
