#!/usr/bin/env node
// Starts talko with a Node that can run it: this one when it is new enough, else the one installed with the packages.
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import * as modules from 'node:module'
import { constants } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const NODE_MAJOR_MIN = 24
const script = fileURLToPath(import.meta.url)
const here = dirname(script)

if (Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN) {
  // Compiled code is kept between runs: a command starts in half the time.
  modules.enableCompileCache()
  const built = join(here, '..', 'live', 'cli.js')
  const { runCli } = await import(existsSync(built) ? built : join(here, '..', 'live', 'cli.ts'))
  await runCli(process.argv.slice(2), script)
} else {
  const newer = findNode(here)
  if (newer === undefined) {
    process.stderr.write(
      `talko: needs Node ${NODE_MAJOR_MIN} or newer, this is ${process.version}; install it from https://nodejs.org, or run \`npm install\` in talko's folder, which brings its own\n`
    )
    process.exitCode = 4
  } else {
    const child = spawn(newer, [script, ...process.argv.slice(2)], { stdio: 'inherit' })
    // A Ctrl-C reaches both by itself; what is sent to this process alone is passed on.
    process.on('SIGINT', () => {})
    for (const signal of ['SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
    child.on('error', (error) => {
      process.stderr.write(`talko: cannot run ${newer}: ${error.message}\n`)
      process.exitCode = 4
    })
    child.on('exit', (status, signal) => {
      process.exitCode = status ?? 128 + (constants.signals[signal] ?? 0)
    })
  }
}

/** The `node` package of this folder or of one above it. */
function findNode(from) {
  for (let folder = from; ; folder = dirname(folder)) {
    const binary = join(folder, 'node_modules', 'node', 'bin', process.platform === 'win32' ? 'node.exe' : 'node')
    if (existsSync(binary)) return binary
    if (dirname(folder) === folder) return undefined
  }
}
