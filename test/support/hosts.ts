/** Libp2p hosts on loopback, stopped after the last test of the file. */
import { after } from 'node:test'
import type { Host } from '#protocol/peer/host'
import { createHost, type HostOptions, type LiveHost } from '#protocol/peer/live/host'
import { generateIdentity } from '#protocol/signing/keys'

export const LOOPBACK = '/ip4/127.0.0.1/tcp/0'

const hosts: Host[] = []
after(() => Promise.all(hosts.map((host) => host.stop())))

/** A server that listens, if nothing else is said. */
export async function startHost(options: Partial<HostOptions> = {}): Promise<LiveHost> {
  const host = await createHost({ role: 'server', listen: [LOOPBACK], ...options, signer: options.signer ?? (await generateIdentity()) })
  hosts.push(host)
  return host
}
