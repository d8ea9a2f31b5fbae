/** `npm run experiments`: simulated, and with `--live` on this machine, too. */
import { experimentsCommand } from '../../sim/experiments/command.ts'
import { ATTEMPTS } from '../../sim/experiments/figures.ts'
import { liveAttempts } from './failing.ts'
import { liveFigure } from './figure.ts'

process.exitCode = await experimentsCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  live: {
    local: (_seed, tell) => liveFigure(tell),
    attempts: async (seed, tell) => (await liveAttempts(ATTEMPTS, seed, tell)).figure
  }
})
