/** An output is gone from every disk; who needs it has it computed again, and nobody is asked. */
import assert from 'node:assert/strict'
import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, it } from 'node:test'
import { testNetwork } from '../support/network.ts'
import { until } from '../support/until.ts'

const ONE = ['--engine', 'process', '--quorum', '1']

describe('D19: an output that was removed from every disk', { timeout: 240_000 }, () => {
  it('is computed again for whoever takes it, as a task or as data, and is had again', async () => {
    const net = await testNetwork()
    try {
      await net.nodeProcess('ann', { slots: 2 })
      const client = await net.client()
      await until('the node', async () => (await client.nodes()).some(({ state }) => state === 'online'))
      const made = await net.owner('run', ...ONE, '-W', '--', 'sh', '-c', 'head -c 2000000 /dev/zero | tr "\\0" x > big')
      const [id = ''] = made.out.split('\n')
      const remove = async (): Promise<void> => {
        const found = (await readdir(net.dir, { recursive: true })).filter((path) => path.endsWith('/big'))
        assert.ok(found.length > 0)
        for (const path of found) await rm(join(net.dir, path))
      }
      const takes = [
        ['--dep', `in=${id}`],
        ['--dep', `in=${id}/big`],
        ['-i', `in=${id}`],
        ['-i', `in=${id}/big`]
      ]
      for (const [index, take] of takes.entries()) {
        await remove()
        const child = await net.owner('run', ...ONE, ...take, '-f', '--', 'sh', '-c', `cat $(find -L "$TALKO_IN"/in -type f) | wc -c; : ${index}`)
        assert.equal(child.status, 0, `${take}: ${child.err}`)
        assert.match(child.out, /2000000/)
      }
      await remove()
      const gone = await net.owner('get', id, join(net.dir, 'gone'))
      assert.equal(gone.status, 3)
      assert.match(gone.err, /is no longer whole.*--dep/)
      assert.equal((await net.owner('run', ...ONE, '-W', '--', 'sh', '-c', 'head -c 2000000 /dev/zero | tr "\\0" x > big')).status, 0)
      assert.equal((await net.owner('get', id, join(net.dir, 'got'))).status, 0)
      assert.equal((await readFile(join(net.dir, 'got/big'))).length, 2_000_000)
    } finally {
      await net.close()
    }
  })
})
