/** Commits numbered batches of three records to the store in the folder named by its argument, telling each number when it is on disk, until it is killed. */
import { writeSync } from 'node:fs'
import { openStore } from '#project-server/live/store'

const store = await openStore(process.argv[2] ?? '')
const epoch = await store.beginEpoch()
const value = new Uint8Array(512)
let last = 0
for await (const [key] of store.range('a/', 'a0', { reverse: true, limit: 1 })) last = Number(key.slice(2))
for (let number = last + 1; ; number++) {
  const name = String(number).padStart(9, '0')
  await store.batch(
    epoch,
    ['a', 'b', 'c'].map((part) => ({ key: `${part}/${name}`, value }))
  )
  writeSync(1, `${number}\n`)
}
