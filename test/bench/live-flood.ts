/** A client that opens readings of its running task, follows it and lists it, as fast as it is let, on many streams: for the benchmark `live`. */
import { connect } from '#client-cli/index'

const AT_ONCE = 40

const [home = '', project = '', address = '', task = ''] = process.argv.slice(2)
const client = await connect({ home, project: `talko://${project}?a=${address}` })
let answered = 0
let refused = 0

async function open(index: number): Promise<void> {
  const stop = new AbortController()
  try {
    if (index % 3 === 0) await client.list(task, '', { signal: stop.signal })
    else
      for await (const _ of client.logs(task, { path: 'file', follow: index % 3 === 1, signal: stop.signal })) {
        // One is left as soon as it brought something.
        stop.abort(new Error('next'))
      }
    answered++
  } catch {
    if (stop.signal.aborted) answered++
    else refused++
  }
}

async function forever(index: number): Promise<void> {
  for (;;) await open(index)
}
for (let index = 0; index < AT_ONCE; index++) void forever(index)
process.on('message', () => process.send?.({ answered, refused }))
// The benchmark was stopped.
process.on('disconnect', () => process.exit(0))
process.send?.('begun')
