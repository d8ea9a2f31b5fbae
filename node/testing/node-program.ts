/** A node as a process of its own, for tests that kill it: `node-program.ts FOLDER`. Prints its peer id when it runs. */
import { startNode } from '../main.ts'

const [dir] = process.argv.slice(2)
if (dir === undefined) throw new Error('which node folder?')
const node = await startNode({ dir })
console.log(node.peerId)
