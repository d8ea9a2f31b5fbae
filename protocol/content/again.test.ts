import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { CID } from 'multiformats/cid'
import type { Host } from '../peer/host.ts'
import { fetchAgain } from './again.ts'
import { ContentError, EMPTY_FILE, type FetchOptions } from './content.ts'

const root = CID.parse(EMPTY_FILE)
const options: FetchOptions = { host: {} as Host, from: ['ann'] }

/** A store whose attempts bring it so far, one after the other, and are then cut; the last is not. */
function store(...reached: readonly number[]) {
  let at = 0
  return {
    attempts: () => at,
    fetch: async (_root: CID, { onProgress }: FetchOptions) => {
      const bytes = reached[at++] ?? 0
      onProgress?.({ bytes, totalBytes: 100, blocks: 1 })
      if (at < reached.length) throw new ContentError('unreachable', 'cut')
      return { bytes }
    }
  }
}

describe('fetching again', () => {
  it('goes on as long as each attempt brings more', async () => {
    const cut = store(10, 20, 30, 40)
    let waited = 0
    assert.deepEqual(await fetchAgain(cut, root, options, async () => void waited++), { bytes: 40 })
    assert.deepEqual([cut.attempts(), waited], [4, 3])
  })
  it('ends when one brings nothing, when there is no connection again, and at other errors', async () => {
    const stuck = store(10, 10, 30)
    await assert.rejects(
      fetchAgain(stuck, root, options, async () => {}),
      { code: 'unreachable' }
    )
    assert.equal(stuck.attempts(), 2)
    const gone = store(10, 20, 30)
    await assert.rejects(
      fetchAgain(gone, root, options, (error) => Promise.reject(error)),
      { code: 'unreachable' }
    )
    assert.equal(gone.attempts(), 1)
    const corrupt = { fetch: async () => Promise.reject(new ContentError('corrupt', 'no')) }
    await assert.rejects(
      fetchAgain(corrupt, root, options, async () => {}),
      { code: 'corrupt' }
    )
  })
})
