/**
 * Half a node, for tests that kill it: `docker-program.ts NODE_ID FOLDER SCRIPT...` starts one replica for each shell script and prints
 * its id once it runs. It never ends by itself.
 */
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createDockerExecutor } from '#node/live/docker/executor'
import { openContentStore } from '#protocol/content/live/store'
import { importBusybox } from './busybox-image.ts'
import { manifestOf, TEST_LABELS } from './docker.ts'

const [nodeId, folder, ...scripts] = process.argv.slice(2)
if (nodeId === undefined || folder === undefined) throw new Error('which node, in which folder?')
const store = await openContentStore(join(folder, 'child-content'))
const { image } = await importBusybox(store, join(folder, 'child-images'))
const executor = await createDockerExecutor({ store, nodeId, folder, labels: TEST_LABELS })
for (const [index, script] of scripts.entries()) {
  const replica = `bbbbbbbbbbbbbbbbbbbbbbbbbb.${index}.1`
  const place = join(folder, 'run', replica)
  await mkdir(place, { recursive: true })
  await executor.start({ replica, inputs: [], folder: place, manifest: manifestOf(image, ['sh', '-c', script]) })
  console.log(replica)
}
setInterval(() => undefined, 60_000)
