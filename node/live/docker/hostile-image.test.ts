import assert from 'node:assert/strict'
import { chmod, copyFile, mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import type { CID } from 'multiformats/cid'
import { DAG_CBOR } from '#protocol/content/cid'
import { encodeImage, type ImageNode, imageId } from '#protocol/image/image'
import { importImage } from '#protocol/image/live/import'
import { readImage } from '#protocol/image/load'
import { makeBusyboxRoot } from '#test/support/busybox-image'
import { type DockerFixture, dockerFixture, runToEnd, skipWithoutDocker, TEST_LABELS } from '#test/support/docker'
import { until } from '#test/support/until'
import { type Executor, ExecutorError } from '../../ports.ts'
import { containerName } from '../../sandbox/options.ts'

describe('an image that wants more than it gets', { skip: await skipWithoutDocker() }, () => {
  let fixture: DockerFixture
  let executor: Executor
  let node: ImageNode
  const made: string[] = []
  before(async () => {
    fixture = await dockerFixture()
    executor = await fixture.executor()
    const root = join(fixture.folder, 'root')
    await mkdir(root)
    await makeBusyboxRoot(root)
    await mkdir(join(root, 'asroot'))
    await copyFile('/bin/busybox', join(root, 'asroot/busybox'))
    await chmod(join(root, 'asroot/busybox'), 0o4755)
    const imported = await importImage(root, fixture.store, join(fixture.folder, 'images'), { labels: TEST_LABELS })
    node = await readImage(imported.image, fixture.store)
  })
  after(async () => {
    await executor.sweep(new Set())
    for (const id of new Set(made)) await fixture.docker.getImage(id).remove({ force: true })
    await fixture.close()
  })
  const imageWith = async (config: object): Promise<CID> => {
    const parsed = JSON.parse(Buffer.from(node.config).toString())
    return fixture.store.putBlock(
      DAG_CBOR,
      encodeImage({ ...node, config: Buffer.from(JSON.stringify({ ...parsed, config: { ...parsed.config, ...config } })) })
    )
  }

  it('gets no volume, no root, no entry point, no health check and no name of its own', async () => {
    const image = await imageWith({
      Volumes: { '/data': {}, '/out/inner': {}, '/tmp': {} },
      User: 'root',
      Entrypoint: ['/bin/false'],
      Env: ['PATH=/bin', 'HOME=/root'],
      WorkingDir: '/etc',
      Labels: { ...TEST_LABELS, 'talko.node': 'somebody-else', 'talko.replica': 'other' },
      Healthcheck: { Test: ['CMD', 'touch', '/tmp/healthy'], Interval: 1_000_000_000 }
    })
    const script =
      'id -u; pwd; echo $HOME; /asroot/busybox id -u; touch /data/x /tmp/x && df /data /tmp /out/inner | tail -n +2 | cut -d" " -f1; touch go; while [ -e go ]; do sleep 0.02; done'
    const execution = await fixture.execution(['sh', '-c', script], { manifest: { image } })
    await executor.prepare(execution.manifest, new AbortController().signal)
    const running = runToEnd(executor, execution)
    const container = fixture.docker.getContainer(containerName(fixture.nodeId, execution.replica))
    const facts = await until('the container', async () => {
      const found = await container.inspect()
      return found.State.Running ? found : undefined
    })
    made.push(facts.Image)
    assert.deepEqual(
      facts.Mounts.filter(({ Type }) => Type === 'volume'),
      []
    )
    assert.equal(facts.Config.Labels['talko.node'], fixture.nodeId)
    assert.equal(facts.State.Health, undefined)
    await until('its word', () => rm(join(execution.folder, 'out/go')).then(() => true))
    const { stdout, exitCode } = await running
    const uid = process.getuid?.() === 0 ? '61000' : String(process.getuid?.())
    assert.equal(stdout, `${uid}\n/out\n/tmp\n${uid}\ntmpfs\ntmpfs\ntmpfs\n`)
    assert.equal(exitCode, 0)
  })

  it('is refused when its layers are not those of its config', async () => {
    const config = Buffer.from(node.config).toString()
    const diffId = `sha256:${'5'.repeat(64)}`
    const lie = encodeImage({ ...node, diffIds: [diffId], config: Buffer.from(config.replace(/sha256:[0-9a-f]{64}/, diffId)) })
    const image = await fixture.store.putBlock(DAG_CBOR, lie)
    const { manifest } = await fixture.execution(['true'], { manifest: { image } })
    await assert.rejects(executor.prepare(manifest, new AbortController().signal), (error) => error instanceof ExecutorError && error.code === 'image')
  })

  it('is loaded again when somebody removed it in the engine', async () => {
    const image = await imageWith({ Env: [`UNIQUE=${fixture.nodeId}`] })
    const id = imageId(await readImage(image, fixture.store))
    made.push(id)
    assert.equal((await runToEnd(executor, await fixture.execution(['true'], { manifest: { image } }))).exitCode, 0)
    await fixture.docker.getImage(id).remove({ force: true })
    const running = await executor.start(await fixture.execution(['true'], { manifest: { image } }))
    assert.equal((await running.ended).exitCode, 0)
  })
})
