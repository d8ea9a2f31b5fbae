/** What hardening costs: a whole replica through the executor (start, output, end, removal) beside `docker run --rm` of the same image with Docker's defaults. */
import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import Docker from 'dockerode'
import { createDockerExecutor } from '#node/live/docker/executor'
import { openContentStore } from '#protocol/content/live/store'
import { importBusybox } from '../support/busybox-image.ts'
import { manifestOf, TEST_LABELS } from '../support/docker.ts'
import { alternate, type BenchContext, type BenchLine, benchLine, median, seconds } from './runner.ts'

const NAME = 'docker task overhead for `true`, hardened'
/** Single runs behind one figure of a round. */
const RUNS_PER_ROUND = 10

/** Milliseconds per run, medians of alternating rounds. */
export async function run(context: BenchContext): Promise<BenchLine[]> {
  const docker = new Docker()
  await docker.ping()
  const command = promisify(execFile)
  await command('docker', ['--version']).catch(() => context.ensure(['docker.io']))

  const store = await openContentStore(join(context.workFolder, 'content'))
  const { image, id } = await importBusybox(store, join(context.workFolder, 'images'))
  const manifest = manifestOf(image, ['true'])
  const executor = await createDockerExecutor({ store, nodeId: 'bench', folder: context.workFolder, labels: TEST_LABELS })
  await executor.probe()
  await executor.prepare(manifest, new AbortController().signal)
  let runs = 0

  const ours = async (): Promise<void> => {
    const replica = `bench.${runs++}.1`
    const folder = join(context.workFolder, 'run', replica)
    await mkdir(folder, { recursive: true })
    const running = await executor.start({ replica, manifest, inputs: [], folder })
    const { reason, exitCode } = await running.ended
    if (reason !== 'exit' || exitCode !== 0) throw new Error(`true ended with ${reason} ${exitCode}`)
    await executor.remove(replica)
  }
  const theirs = async (): Promise<void> => {
    await command('docker', ['run', '--rm', '--label', 'talko.test=1', id, 'true'])
  }
  const round = (name: string, once: () => Promise<void>) => async (): Promise<number> => {
    const times: number[] = []
    for (let index = 0; index < RUNS_PER_ROUND; index++) times.push((await seconds(once)) * 1000)
    context.log(`${name}: ${median(times).toFixed(0)} ms`)
    return median(times)
  }

  try {
    await ours() // the first of each is not counted
    await theirs()
    const { value, peerValue } = await alternate(context, round('talko', ours), round('docker run', theirs))
    return [benchLine({ name: NAME, value, unit: 'ms', peer: 'docker run --rm, defaults', peerValue, must: '<= 0.8' })]
  } finally {
    await executor.stop()
    await executor.sweep(new Set())
    await store.close()
  }
}
