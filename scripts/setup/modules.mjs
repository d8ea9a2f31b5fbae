/** The npm packages of package-lock.json, among them Node 24 itself (the development dependency `node`). */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ask, ROOT, run, SetupError, say } from './say.mjs'

const NODE_MAJOR_MIN = 24
const NODE = join(ROOT, 'node_modules', '.bin', 'node')

export function installModules() {
  if (!modulesAreCurrent()) {
    say('installing the npm packages of package-lock.json')
    // Not `npm ci`: it refuses a lock file that lacks the optional packages of other platforms, which npm leaves out when its
    // registry does not hold them; and it deletes a folder that a running program may be using.
    run('npm', ['install', '--no-save', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error'])
    if (!modulesAreCurrent()) throw new SetupError(1, 'package.json and package-lock.json do not agree; run `npm install` and commit both')
  }
  if (nodeMajor() >= NODE_MAJOR_MIN) return
  // An npm that runs no install scripts leaves the `node` package without its program.
  say(`fetching Node ${NODE_MAJOR_MIN} for this folder`)
  spawnSync(process.execPath, ['installArchSpecificPackage.js'], { cwd: join(ROOT, 'node_modules', 'node'), stdio: ['ignore', 2, 2] })
  if (nodeMajor() < NODE_MAJOR_MIN)
    throw new SetupError(1, `${NODE} is not Node ${NODE_MAJOR_MIN}; delete node_modules and run \`npm install --foreground-scripts\` to see why`)
}

/** npm writes what it installed beside it: the same versions must be there as in package-lock.json, optional ones apart. */
function modulesAreCurrent() {
  const wanted = packagesOf(join(ROOT, 'package-lock.json'))
  const found = packagesOf(join(ROOT, 'node_modules', '.package-lock.json'))
  return Object.entries(wanted).every(
    ([path, { version, optional, devOptional, peer }]) => path === '' || optional || devOptional || peer || found[path]?.version === version
  )
}

function packagesOf(file) {
  try {
    return JSON.parse(readFileSync(file, 'utf8')).packages
  } catch {
    return {}
  }
}

function nodeMajor() {
  return Number(/^v(\d+)\./.exec(ask(NODE, ['--version']) ?? '')?.[1] ?? 0)
}
