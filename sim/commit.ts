/** Which talko this is: what a report carries, so that a run can be repeated years later. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** The commit of a checkout, with `+` when it has changes; of an installed package the one that it was built from. `unknown` when nothing says. */
export function commitOf(folder: string = import.meta.dirname): string {
  for (let at = folder; ; at = dirname(at)) {
    const file = join(at, 'package.json')
    if (existsSync(file)) {
      const { gitHead }: { readonly gitHead?: unknown } = JSON.parse(readFileSync(file, 'utf8'))
      return typeof gitHead === 'string' ? gitHead : checkout(at)
    }
    if (dirname(at) === at) return 'unknown'
  }
}

function checkout(folder: string): string {
  const head = git(folder, ['rev-parse', '--short=12', 'HEAD'])
  if (head === undefined) return 'unknown'
  return git(folder, ['status', '--porcelain', '--untracked-files=no']) === '' ? head : `${head}+`
}

function git(folder: string, args: readonly string[]): string | undefined {
  const { status, stdout } = spawnSync('git', args, { cwd: folder, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  return status === 0 ? stdout.trim() : undefined
}
