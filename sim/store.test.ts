import { storeContract } from '#test/contract/store'
import { MemoryStore } from './store.ts'

storeContract('in memory', async () => {
  const store = new MemoryStore()
  return { store, reopen: async () => store, dispose: () => store.close() }
})
