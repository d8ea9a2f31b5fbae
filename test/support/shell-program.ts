/** Runs `talko` command lines one after the other's start in one process, for tests that would wait for a process each, in a folder when one is named: lines of `{"id", "argv"}` in, `{"id", "status", "out", "err"}` out. */
import { createInterface } from 'node:readline'
import { systemClock } from '#client-cli/live/clock'
import { main } from '#client-cli/main'

const [folder] = process.argv.slice(2)
if (folder !== undefined) process.chdir(folder)

createInterface({ input: process.stdin }).on('line', async (line) => {
  const { id, argv }: { id: number; argv: string[] } = JSON.parse(line)
  let out = ''
  let err = ''
  const io = {
    stdout: (text: string | Uint8Array) => {
      out += typeof text === 'string' ? text : Buffer.from(text).toString()
    },
    stderr: (text: string) => {
      err += text
    },
    terminal: false,
    colour: false,
    columns: () => 100,
    nowMs: () => Date.now()
  }
  const status = await main(argv, { io, clock: systemClock, version: 'test', onInterrupt: () => () => {} })
  console.log(JSON.stringify({ id, status, out, err }))
})
