/** Asks the machine's own NVIDIA driver. */
import { execFile } from 'node:child_process'

/** A driver that hangs must not keep the node from starting. */
const ANSWER_MS_MAX = 10_000

export function nvidiaSmi(args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) => {
    execFile('nvidia-smi', [...args], { timeout: ANSWER_MS_MAX, killSignal: 'SIGKILL' }, (error, stdout) => resolve(error === null ? stdout : undefined))
  })
}
