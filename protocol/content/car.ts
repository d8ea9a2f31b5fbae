/** A complete DAG as a CAR file (version 1), which kubo and other IPFS programs import. */
import { CarWriter } from '@ipld/car/writer'
import type { CID } from 'multiformats/cid'
import { ContentError, type ContentStore } from './content.ts'
import { allBlocks } from './reader.ts'

/** The bytes of the CAR, each block once and verified, parents before children; memory is one block and the ids seen. Throws ContentError `not_found` when a block is not here. */
export async function* exportCar(store: Pick<ContentStore, 'getBlock'>, root: CID): AsyncGenerator<Uint8Array, void, undefined> {
  const { writer, out } = CarWriter.create([root])
  const need = async (cid: CID): Promise<Uint8Array> => {
    const bytes = await store.getBlock(cid)
    if (bytes === undefined) throw new ContentError('not_found', `${cid} is not here (or its file has changed); fetch or add it again`)
    return bytes
  }
  const writing = (async () => {
    try {
      for await (const block of allBlocks(root, need)) await writer.put(block)
    } finally {
      await writer.close()
    }
  })()
  // a failure is thrown below, after the reader has had what came before it
  writing.catch(() => undefined)
  yield* out
  await writing
}
