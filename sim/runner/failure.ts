/** What is printed of a failure at the protocol and the stack level, beside its story: its seed, the line that repeats it, and where its small case is. */
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { commitOf } from '../commit.ts'

/** `options`: of `npm run sim`, that draw the same world. */
export function tellFailure(seed: number, complaint: string, options: readonly string[]): void {
  console.error(`seed ${seed} failed: ${complaint}`)
  console.error(`repeat it at commit ${commitOf()}, Node ${process.version}, with: npm run sim -- ${[...options, '--seed', seed].join(' ')}`)
}

/** Writes a case to a file of this name; answers with the line that repeats it. */
export function keepCase(name: string, one: object): string {
  const file = join(tmpdir(), `talko-sim-${name}.json`)
  writeFileSync(file, JSON.stringify(one))
  return `the small case: npm run sim -- --case ${file}`
}
