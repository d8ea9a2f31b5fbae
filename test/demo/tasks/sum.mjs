/** The reduce step of the count: `node sum.mjs PARTS OUT`. Adds up every file named `count` below PARTS and writes the sum to OUT/count. */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const [parts, folder] = process.argv.slice(2)
let sum = 0
for (const path of readdirSync(parts, { recursive: true })) if (/(?:^|\/)count$/.test(path)) sum += Number(readFileSync(join(parts, path), 'utf8'))
writeFileSync(join(folder, 'count'), `${sum}\n`)
console.log(sum)
