/** `flood-client.ts HOME PROJECT ADDRESS`: a client that asks for the list of nodes on eight streams, as many at once as each may have open. Says when it began, and how many were answered when it is asked. */
import { Home } from '#client-cli/live/home'
import { FakeOwner } from '#project-server/testing/fake-owner'

const STREAMS = 8
const OPEN = 200

const [home = '', project = '', address = ''] = process.argv.slice(2)
const signer = await Home.at(home).signer()
let answered = 0

async function ask(owner: FakeOwner): Promise<void> {
  for (;;) {
    await owner.ask({ query: { what: 'nodes', of: '', limit: 0, after: '' } })
    answered++
  }
}

const first = await FakeOwner.start(project, [address], signer)
await first.query('project')
// More streams on the same connection: the client's rate is one for all of them.
const owners = [first]
for (let stream = 1; stream < STREAMS; stream++) owners.push(await FakeOwner.beside(first))
for (const owner of owners) for (let open = 0; open < OPEN; open++) void ask(owner).catch(() => undefined)
process.on('message', () => process.send?.(answered))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('began')
