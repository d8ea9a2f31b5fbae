/** One run of the stack level in a process of its own: its time and dice are the whole process's. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { StackCase } from './case.ts'
import type { StackRan } from './one.ts'

const PROGRAM = fileURLToPath(new URL(`./one.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url))
/** Bytes of a run's last words that are kept. */
const ERRORS_MAX = 4_096

/** Looked at no longer than `untilMs` of virtual time. Rejects when the process ends without an answer. */
export function runApart(one: StackCase, untilMs?: number): Promise<StackRan> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [PROGRAM, ...(untilMs === undefined ? [] : [String(untilMs)])], { stdio: ['pipe', 'pipe', 'pipe'] })
    let out = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text
    })
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors = (errors + text).slice(-ERRORS_MAX)
    })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(JSON.parse(out))
      else reject(new Error(`the run of seed ${one.seed} ended with ${code}: ${errors}`))
    })
    // One that ends before it has read its case says why.
    child.stdin.on('error', () => undefined).end(JSON.stringify(one))
  })
}
