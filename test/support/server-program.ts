/** A project server as a process of its own, for tests that kill it: `server-program.ts FOLDER`. Prints its address when it serves. */
import { Programs } from '#node/main'
import { startProjectServer } from '#project-server/main'

const [dir] = process.argv.slice(2)
if (dir === undefined) throw new Error('which project folder?')
const server = await startProjectServer({ dir, programs: async (tools) => new Programs(tools) })
process.on('SIGTERM', () => void server.stop().then(() => process.exit(0)))
console.log(JSON.stringify({ peerId: server.peerId, epoch: server.epoch, addresses: server.addresses() }))
