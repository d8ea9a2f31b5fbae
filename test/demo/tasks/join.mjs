/** The reduce step of the picture: `node join.mjs PARTS OUT`. Finds the tiles anywhere below PARTS and writes OUT/picture.png. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HEIGHT, tileLines, WIDTH } from './picture.mjs'
import { encodePng } from './png.mjs'

const [parts, folder] = process.argv.slice(2)
const pixels = Buffer.alloc(WIDTH * HEIGHT * 3)
const missing = new Set(tileLines().map((line) => line.replaceAll(' ', '-')))

for (const path of readdirSync(parts, { recursive: true })) {
  const match = /(?:^|\/)((\d+)-(\d+)-(\d+)-(\d+))\.rgb$/.exec(path)
  if (match === null) continue
  const [left, top, width, height] = match.slice(2).map(Number)
  const tile = readFileSync(join(parts, path))
  for (let row = 0; row < height; row++) tile.copy(pixels, ((top + row) * WIDTH + left) * 3, row * width * 3, (row + 1) * width * 3)
  missing.delete(match[1])
}
if (missing.size > 0) throw new Error(`tiles are missing: ${[...missing].join(', ')}`)
writeFileSync(join(folder, 'picture.png'), encodePng(WIDTH, HEIGHT, pixels))
console.log(`joined ${tileLines().length} tiles into picture.png, ${WIDTH} by ${HEIGHT}`)
