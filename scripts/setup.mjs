/**
 * Brings a fresh clone to ready: `node scripts/setup.mjs [modules] [packages] [docker]`, all three when none is named;
 * `node scripts/setup.mjs apt NAME...` installs Debian packages. Needs nothing but Node 18, npm and, on Debian-like systems,
 * root for what is missing. Says one line (on stderr) for each thing it does, and nothing when all is there.
 * Ends with 0 when ready, 2 when a person has to do something first, 1 when a step failed.
 */
import { startDocker } from './setup/docker.mjs'
import { installModules } from './setup/modules.mjs'
import { installPackages, installTools } from './setup/packages.mjs'
import { SetupError } from './setup/say.mjs'

const STEPS = { modules: installModules, packages: installTools, docker: startDocker }

async function main([first, ...rest]) {
  if (first === 'apt') return installPackages(rest)
  const names = first === undefined ? Object.keys(STEPS) : [first, ...rest]
  for (const name of names) {
    const step = STEPS[name]
    if (step === undefined) throw new SetupError(2, `there is no step called ${name}; the steps are ${Object.keys(STEPS).join(', ')}`)
    await step()
  }
}

try {
  await main(process.argv.slice(2))
} catch (error) {
  if (!(error instanceof SetupError)) throw error
  console.error(`setup: ${error.message}`)
  process.exitCode = error.exitCode
}
