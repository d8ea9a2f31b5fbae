/** `npm run scenario -- run FILE`, `compare`, `sweep`: scenarios in this process. Ctrl-C ends it with the report so far. */
import { simCommand } from './command.ts'

const stop = new AbortController()
process.once('SIGINT', () => stop.abort())
process.once('SIGTERM', () => stop.abort())
process.exitCode = await simCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  nowMs: () => performance.now(),
  signal: stop.signal
})
