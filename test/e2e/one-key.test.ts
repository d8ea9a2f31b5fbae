import assert from 'node:assert/strict'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, it } from 'node:test'
import { type TestNetwork, testNetwork } from '../support/network.ts'

let network: TestNetwork
before(async () => {
  network = await testNetwork()
})
after(() => network.close())

it('takes what each of an owner’s programs uploads from that program, although they share a key', async () => {
  const programs = [await network.client(), await network.client(), await network.client()]
  const uploads = programs.map(async (client, index) => {
    const folder = join(network.dir, `data-${index}`)
    await mkdir(folder)
    await writeFile(join(folder, 'file'), `only program ${index} has this`)
    return client.upload(folder)
  })
  const roots = new Set((await Promise.all(uploads)).map(({ root }) => root))
  assert.equal(roots.size, programs.length)
})
