/** One process of the benchmark `sweep`: tasks accepted by the real submissions, core, committer and LevelDB, as a generator or one by one. Arguments: `sweep` or `eager`, tasks, a folder. Prints JSON. */

import { Committer } from '#project-server/commit'
import { Coordinator } from '#project-server/coordinator/coordinator'
import { systemClock } from '#project-server/live/clock'
import { systemRandom } from '#project-server/live/random'
import { openStore } from '#project-server/live/store'
import { SILENT } from '#project-server/logger'
import { Submissions } from '#project-server/owner/submit'
import { encodeManifest } from '#protocol/bundle/manifest'
import { encodeSweep, manifestAt, type Sweep } from '#protocol/bundle/sweep'
import { SUBMIT_MANIFESTS_MAX } from '#protocol/owner/messages'
import { generateIdentity } from '#protocol/signing/keys'
import { plainBundle } from '../support/coordinator-parts.ts'

export interface SweptOrNot {
  readonly seconds: number
  /** Of the process once all is durable and garbage is gone. */
  readonly bytes: number
}

const [mode = 'sweep', text = '1', folder = ''] = process.argv.slice(2)
const tasks = Number(text)
const store = await openStore(folder)
const epoch = await store.beginEpoch()
const signer = await generateIdentity()
const coordinator = new Coordinator({ project: signer.peerId, epoch, signer })
const ports = {
  store,
  clock: systemClock,
  signer,
  logger: SILENT,
  carryOut: () => undefined,
  onFatal: (error: Error) => process.exit(String(error) === '' ? 1 : 2)
}
const committer = new Committer({ ...ports, core: coordinator }, { epoch })
const content = {
  check: async () => true,
  has: () => true,
  locate: () => undefined,
  resolve: () => undefined,
  sizeOf: () => undefined,
  getBlock: async () => undefined
}
const submissions = new Submissions({ committer, coordinator, store, content, random: systemRandom })
const sweep: Sweep = { mode: 'product', parameters: [{ name: 'x', values: { from: 0, to: tasks - 1, step: 1 } }] }
const template = plainBundle('{x}')
const head = { batch: new Uint8Array(16), name: '', policy: new Uint8Array() }
const beganMs = performance.now()
if (mode === 'sweep')
  await submissions.submit({ ...head, manifests: [new Uint8Array(template.bytes)], more: false, first: 0, sweep: new Uint8Array(encodeSweep(sweep)) }, 'owner')
else
  for (let first = 0; first < tasks; first += SUBMIT_MANIFESTS_MAX) {
    const count = Math.min(SUBMIT_MANIFESTS_MAX, tasks - first)
    const manifests = Array.from({ length: count }, (_, at) => new Uint8Array(encodeManifest(manifestAt(template.manifest, sweep, first + at))))
    await submissions.submit({ ...head, manifests, more: first + count < tasks, first }, 'owner')
  }
const seconds = (performance.now() - beganMs) / 1000
globalThis.gc?.()
console.log(JSON.stringify({ seconds, bytes: process.memoryUsage().rss } satisfies SweptOrNot))
await committer.stop()
await store.close()
