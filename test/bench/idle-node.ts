/** A node with nothing to do: the real end of the control stream over a host, and nothing else of a node. */
import { randomBytes } from 'node:crypto'
import { Connection, type ConnectionOptions } from '#node/connection'
import { systemClock, systemRandom } from '#node/live/clock'
import { SILENT } from '#project-server/logger'
import type { Host } from '#protocol/peer/host'

const capabilities = {
  platform: 'linux/amd64',
  engines: ['process'],
  cpuMillis: 4_000,
  memoryBytes: 2 ** 33,
  diskBytes: 2 ** 40,
  slots: 4,
  tags: [],
  gpus: [],
  exclusive: [],
  ownerOnly: false,
  groups: []
}

/** Resolves when the project has welcomed the node; the answer ends it. */
export async function join(host: Host, place: Pick<ConnectionOptions, 'project' | 'addresses' | 'relays' | 'lookUp'>): Promise<() => Promise<void>> {
  const options = { ...place, name: 'idle', agent: 'bench', capabilities }
  const connection: Connection = new Connection({ host, clock: systemClock, random: systemRandom, logger: SILENT }, options, {
    apply(event) {
      if (event.kind === 'connected')
        connection.hello({ kind: 'hello', link: randomBytes(16), spare: event.spare, received: 0, replicas: [], slots: 4, holdings: [], next: 0 })
    },
    room: () => undefined,
    refused(error) {
      throw error
    }
  })
  connection.start()
  await connection.online(new AbortController().signal)
  return () => connection.stop()
}
