/** Finds out what `talko node doctor` tells, with a key of its own, so that a node that runs is not disturbed. */
import { networkInterfaces } from 'node:os'
import { resolve } from 'node:path'
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import { messageOf } from '#protocol/message-of'
import { isPrivateAddress, peerIn, throughRelay } from '#protocol/peer/addresses'
import { HostError } from '#protocol/peer/host'
import { createHost, type LiveHost } from '#protocol/peer/live/host'
import { askReach, askUdp, withOpenPort } from '#protocol/reach/live/ask'
import { generateIdentity } from '#protocol/signing/keys'
import { type Diagnosis, diagnose, type Facts, type RelayFacts } from '../diagnosis.ts'
import type { NodeSettings } from '../settings.ts'
import { createDockerExecutor } from './docker/executor.ts'
import { readNodeFolder } from './folder.ts'

/** Relays that are asked: two tell the kind of a router, one more may be gone. */
const RELAYS_ASKED = 3
const RESERVE_LOOKS = 60
const RESERVE_LOOK_MS = 100

export interface Examined extends Diagnosis {
  readonly dir: string
  readonly project: PeerIdString
  readonly relays: readonly { readonly address: string; readonly connected: boolean; readonly reserved: boolean; readonly project: boolean }[]
}

/** Throws NodeError as `startNode` does for a folder that is none. */
export async function examine(given: string): Promise<Examined> {
  const dir = resolve(given)
  const { settings } = await readNodeFolder(dir)
  const { project, addresses, bootstrap = [] } = settings
  const host = await createHost({ signer: await generateIdentity(), listen: [], role: 'volunteer', relays: bootstrap })
  try {
    const direct: { address: string; trouble: string | undefined }[] = []
    for (const address of addresses) direct.push({ address, trouble: await tried(host, project, address) })
    const relays = await withOpenPort((port) => Promise.all(bootstrap.slice(0, RELAYS_ASKED).map((relay) => ask(host, relay, port))))
    const withUdp = relays.flatMap(({ seen, address }) => (seen === undefined || seen.udpPort === 0 ? [] : [[hostOf(address), seen.udpPort] as const]))
    const udps = withUdp.length === 0 ? [] : await askUdp(withUdp)
    const facts: RelayFacts[] = []
    for (const relay of relays) {
      const at = withUdp.findIndex(([ip, port]) => ip === hostOf(relay.address) && port === relay.seen?.udpPort)
      const trouble = await tried(host, project, throughRelay(relay.address, project))
      facts.push({ ...relay, project: trouble === undefined, udp: at < 0 ? undefined : udps[at] })
    }
    for (let looks = 0; looks < RESERVE_LOOKS && facts.some(({ connected }) => connected) && !host.relays().some(({ held }) => held); looks += 1)
      await new Promise((done) => setTimeout(done, RESERVE_LOOK_MS))
    const held = new Set(host.relays().flatMap((relay) => (relay.held ? [relay.peer] : [])))
    const all: Facts = {
      own: Object.values(networkInterfaces()).flatMap((entries) => (entries ?? []).map((entry) => entry.address)),
      direct,
      relays: facts.map((relay) => ({ ...relay, reserved: held.has(peerIn(relay.address) ?? '') })),
      engines: await enginesOf(settings, dir)
    }
    const shown = all.relays.map(({ address, connected, reserved, project: reached }) => ({ address, connected, reserved, project: reached }))
    return { dir, project, relays: shown, ...diagnose(all) }
  } finally {
    await host.stop()
  }
}

/** Why the project does not answer there; undefined when it does. */
async function tried(host: LiveHost, project: PeerIdString, address: string): Promise<string | undefined> {
  try {
    await host.disconnect(project)
    await host.connect(project, [address])
    return undefined
  } catch (error) {
    if (!(error instanceof HostError)) throw error
    return /\(([^()]*)\)$/.exec(error.message)?.[1] ?? error.message
  }
}

type Seen = NonNullable<RelayFacts['seen']> & { readonly udpPort: number }
type Asked = Omit<RelayFacts, 'seen' | 'udp' | 'project' | 'reserved'> & { readonly reserved: false; readonly seen: Seen | undefined }

async function ask(host: LiveHost, address: string, port: number): Promise<Asked> {
  const peer = peerIn(address) ?? ''
  const askedMs = Date.now()
  try {
    await host.connect(peer, [address])
  } catch {
    return { address, connected: false, reserved: false, seen: undefined, askedMs, answeredMs: askedMs }
  }
  // A clock is asked without the time that it takes to try a port.
  const from = Date.now()
  const quick = await askReach(host, peer, 0)
  const answeredMs = Date.now()
  const tested = await askReach(host, peer, port)
  const open = tested === undefined || tested.busy ? undefined : tested.open && !isPrivateAddress(`/ip4/${tested.address}/`)
  const seen = quick === undefined ? undefined : { ...quick, open }
  return { address, connected: true, reserved: false, seen, askedMs: from, answeredMs }
}

function hostOf(address: string): string {
  return address.split('/')[2] ?? ''
}

async function enginesOf({ engines }: NodeSettings, dir: string): Promise<Facts['engines']> {
  return Promise.all(
    engines.map(async (engine) => {
      if (engine === 'process') return { engine, trouble: undefined }
      const store: Pick<ContentStore, 'getBlock' | 'read'> = { getBlock: async () => undefined, async *read() {} }
      const executor = await createDockerExecutor({ store, nodeId: 'doctor', folder: dir })
      try {
        await executor.probe()
        return { engine, trouble: undefined }
      } catch (error) {
        return { engine, trouble: messageOf(error) }
      } finally {
        await executor.stop().catch(() => undefined)
      }
    })
  )
}
