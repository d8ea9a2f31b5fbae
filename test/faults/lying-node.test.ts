import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { it } from 'node:test'
import fc from 'fast-check'
import { DEFAULT_RESOURCES } from '#protocol/bundle/manifest'
import { scriptedExecutor } from '../support/scripted-executor.ts'
import { lie, lyingExecutor } from './lying-node.ts'

it('never says the truth, and tells the same lie again', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 2000 }), (truth) => {
      assert.notDeepEqual(lie(truth), truth)
      assert.deepEqual(lie(truth), lie(truth))
    })
  )
  assert.equal(Buffer.from(lie(Buffer.from('70435\n'))).toString(), '47102\n')
})

it('alters what a run wrote and printed, and nothing else of it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'talko-lie-'))
  try {
    mkdirSync(join(folder, 'out', 'deep'), { recursive: true })
    writeFileSync(join(folder, 'out', 'deep', 'count'), '12')
    const liar = lyingExecutor(scriptedExecutor({ script: () => ({ answer: '42' }) }))
    const running = await liar.start({
      replica: 'x.0.1',
      folder,
      inputs: [],
      manifest: {
        kind: 'run',
        v: 1,
        engine: 'process',
        image: null,
        command: ['answer'],
        dependencies: [],
        environment: {},
        resources: DEFAULT_RESOURCES,
        network: 'none',
        compareStdout: true
      }
    })
    const ended = await running.ended
    assert.deepEqual([ended.reason, ended.exitCode], ['exit', 0])
    const read = (path: string): string => readFileSync(join(folder, path), 'utf8')
    assert.deepEqual([read('out/answer'), read('out/deep/count'), read('stdout'), read('stderr')], ['19', '89', '19', ''])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
