/** Tells the DHT where the project's coordinator is, again and again; a network that works without is left alone. */
import { isPrivateAddress } from '#protocol/peer/addresses'
import { type Host, HostError } from '#protocol/peer/host'
import { ADDRESSES_MAX, signRecord } from '#protocol/record/record'
import type { Signer } from '#protocol/signing/keys'
import type { Logger } from './logger.ts'
import { RECORD_LOOK_MS, RECORD_REFRESH_MS, RECORD_RETRY_MS, RECORD_VALID_MS } from './policy.ts'
import type { Clock } from './ports.ts'

export interface RecordPorts {
  readonly host: Pick<Host, 'publishRecord' | 'addresses'>
  readonly signer: Signer
  readonly clock: Clock
  readonly logger: Logger
}

/** Where the project is now; with the addresses of its own network for those who ask there. */
export function signedRecord(
  { host, signer, clock }: Pick<RecordPorts, 'host' | 'signer' | 'clock'>,
  epoch: number,
  where: 'world' | 'lan' = 'world'
): Uint8Array {
  const nowMs = clock.nowMs()
  // There are at most so many in a record, and those of its own network help nobody elsewhere.
  const all = host.addresses().filter((address) => isPrivateAddress(address) === (where === 'lan'))
  const addresses = (all.length > 0 ? all : host.addresses()).slice(0, ADDRESSES_MAX)
  const coordinators = [{ peer: signer.peerId, addresses }]
  return signRecord(signer, { v: 1, project: signer.peerId, sequence: nowMs, epoch, coordinators, issuedAtMs: nowMs, expiresAtMs: nowMs + RECORD_VALID_MS })
}

/** Publishes now, when the addresses have changed, and again before it expires; the answer stops it. */
export function publishRecord(ports: RecordPorts, epoch: number): () => void {
  const { host, clock, logger } = ports
  const stopped = new AbortController()
  let cancel = (): void => undefined
  let told = ''
  let again = 0
  const publish = async (): Promise<void> => {
    const nowMs = clock.nowMs()
    told = host.addresses().join()
    again = nowMs + RECORD_REFRESH_MS
    try {
      await host.publishRecord(signedRecord(ports, epoch), stopped.signal)
      logger.info({ epoch }, 'published the project record')
    } catch (error) {
      if (stopped.signal.aborted) return
      if (!(error instanceof HostError)) throw error
      logger.warn({ reason: error.message }, 'the project record could not be published; it will be tried again')
      again = nowMs + RECORD_RETRY_MS
    }
    look()
  }
  const look = (): void => {
    if (stopped.signal.aborted) return
    cancel = clock.after(RECORD_LOOK_MS, () => {
      if (clock.nowMs() >= again || host.addresses().join() !== told) void publish()
      else look()
    })
  }
  void publish()
  return () => {
    stopped.abort()
    cancel()
  }
}
