/** What GPUs a machine has, as NVIDIA's own program tells it. */
import { GPUS_MAX } from '#protocol/bundle/manifest'
import type { Gpu } from '#protocol/control/messages'

/** Runs `nvidia-smi` with these arguments; what it printed, or undefined when there is no such program or it failed. */
export type AskDriver = (args: readonly string[]) => Promise<string | undefined>

const QUESTION = ['--query-gpu=uuid,name,memory.total,driver_version', '--format=csv,noheader,nounits'] as const

/** None where the driver is not there, does not answer, or says something else. */
export async function findGpus(ask: AskDriver): Promise<Gpu[]> {
  return parseGpus((await ask(QUESTION)) ?? '')
}

/** A line each: `GPU-8f6f…, NVIDIA A100-SXM4-40GB, 40960, 535.104.05`. Lines of another shape (a card that is in error) are left out. */
export function parseGpus(printed: string): Gpu[] {
  const found = new Map<string, Gpu>()
  for (const line of printed.split('\n')) {
    const match = /^(GPU-[0-9a-f-]{8,64}), ([^,]{1,96}), (\d{1,9}), (\d{1,6}(?:\.\d{1,6}){0,3})$/.exec(line.trim())
    if (match === null) continue
    const [, uuid = '', model = '', mebibytes = '', driver = ''] = match
    found.set(uuid, { uuid, model, memoryBytes: Number(mebibytes) * 2 ** 20, driver })
  }
  return [...found.values()].slice(0, GPUS_MAX)
}
