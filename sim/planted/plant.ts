/** A copy of the source tree in which one bug at a time is planted, and the simulator let loose on it. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Bug } from './bugs.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDERS = ['protocol', 'project-server', 'node', 'sim'] as const
const RUN_MS_MAX = 480_000

export interface Caught {
  readonly seed: number
  readonly complaint: string
  /** The small case as a story, and as data; empty when it was not asked for. */
  readonly story: string
  readonly small: string
}

export interface Copy {
  /** undefined when no seed saw anything wrong in its time. Throws when the line to be changed is not there. */
  catch(bug: Bug, options: { readonly seeds: number; readonly shrink: number }): Promise<Caught | undefined>
  remove(): Promise<void>
}

export async function copyTree(): Promise<Copy> {
  const dir = await mkdtemp(join(tmpdir(), 'talko-planted-'))
  for (const folder of FOLDERS) await cp(join(ROOT, folder), join(dir, folder), { recursive: true })
  await cp(join(ROOT, 'package.json'), join(dir, 'package.json'))
  await symlink(join(ROOT, 'node_modules'), join(dir, 'node_modules'))
  return {
    async catch(bug, { seeds, shrink }) {
      const file = join(dir, bug.file)
      const source = await readFile(file, 'utf8')
      if (source.split(bug.line).length !== 2) throw new Error(`${bug.file} does not have this line once any more: ${bug.line}`)
      await writeFile(
        file,
        source.replace(bug.line, () => bug.instead)
      )
      try {
        return look(dir, seeds, shrink)
      } finally {
        await writeFile(file, source)
      }
    },
    remove: () => rm(dir, { recursive: true, force: true })
  }
}

function look(dir: string, seeds: number, shrink: number): Caught | undefined {
  const args = [join(dir, 'sim/runner/main.ts'), '--seeds', String(seeds), '--shrink', String(shrink)]
  const { status, signal, stderr } = spawnSync(process.execPath, args, { cwd: dir, encoding: 'utf8', timeout: RUN_MS_MAX })
  if (status === 0 || signal !== null) return undefined
  const failed = /^seed (\d+) failed: (.*)$/m.exec(stderr)
  if (status !== 3 || failed === null) throw new Error(`the simulator itself broke (status ${status}): ${stderr.slice(-2_000)}`)
  const [, seed = '', complaint = ''] = failed
  const [, story = ''] = stderr.split(/^repeat it .*\n/m)
  const [, file] = /^the small case: .* --case (.*)$/m.exec(stderr) ?? []
  return { seed: Number(seed), complaint, story: story.trim(), small: file === undefined ? '' : readFileSync(file, 'utf8') }
}
