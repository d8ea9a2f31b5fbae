/** `npm run experiments`: simulated, and with `--live` on this machine, too. */
import { experimentsCommand } from '../../sim/experiments/command.ts'
import { liveFigure } from './figure.ts'

process.exitCode = await experimentsCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  live: liveFigure
})
