/** The serving side needs nothing of the disk itself; it stands here too, beside the store that it serves. */
export { serveContent } from '../serve.ts'
