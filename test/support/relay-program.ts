/** A relay as a process of its own, for tests that kill it: `relay-program.ts FOLDER`. Prints its addresses when it runs. */
import { startRelay } from '#relay/main'

const [dir] = process.argv.slice(2)
if (dir === undefined) throw new Error('which relay folder?')
const relay = await startRelay({ dir })
process.on('SIGTERM', () => void relay.stop().then(() => process.exit(0)))
console.log(JSON.stringify(relay.addresses()))
