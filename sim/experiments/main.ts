/** `npm run experiments`. */
import { experimentsCommand } from './command.ts'

process.exitCode = await experimentsCommand(process.argv.slice(2), {
  out: (line) => console.log(line),
  err: (line) => console.error(line),
  live: async (tell) => {
    const { liveFigure } = await import('../../test/experiments/figure.ts')
    return await liveFigure(tell)
  }
})
