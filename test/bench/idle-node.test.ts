import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join as within } from 'node:path'
import { it } from 'node:test'
import { startHost } from '#test/support/hosts'
import { join } from './idle-node.ts'
import { startServer } from './system.ts'

it('an idle node of the benchmarks is welcomed by a project server', { timeout: 60_000 }, async () => {
  const workFolder = await mkdtemp(within(tmpdir(), 'talko-'))
  const server = await startServer({ workFolder }, 'project')
  try {
    const host = await startHost({ listen: [], role: 'volunteer' })
    const leave = await join(host, { project: server.project, addresses: [server.address], lookUp: false })
    assert.equal(host.isConnected(server.project), true)
    await leave()
  } finally {
    await server.stop()
    await rm(workFolder, { recursive: true })
  }
})
