/**
 * The map step of the picture: `node tile.mjs LINES OUT`. Each line of LINES is a tile, `x y width height` in pixels; it is drawn
 * with five samples a pixel and written to OUT as `<x>-<y>-<width>-<height>.rgb`, three bytes a pixel.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { HEIGHT } from './picture.mjs'
import { develop, light } from './scene.mjs'

/** Where in a pixel its samples lie: no two in one row or column, so that edges of every slope come out smooth. */
const SAMPLES = [
  [0.1, 0.5],
  [0.3, 0.9],
  [0.5, 0.3],
  [0.7, 0.7],
  [0.9, 0.1]
]
const [lines, folder] = process.argv.slice(2)

for (const line of readFileSync(lines, 'utf8').trim().split('\n')) {
  const [left, top, width, height] = line.split(' ').map(Number)
  const pixels = Buffer.alloc(width * height * 3)
  const sample = [0, 0, 0]
  for (let row = 0; row < height; row++) {
    for (let column = 0; column < width; column++) {
      const sum = [0, 0, 0]
      for (const [across, down] of SAMPLES) {
        light((left + column + across) / HEIGHT, (top + row + down) / HEIGHT, sample)
        for (let channel = 0; channel < 3; channel++) sum[channel] += sample[channel]
      }
      const at = (row * width + column) * 3
      for (let channel = 0; channel < 3; channel++) pixels[at + channel] = develop(sum[channel] / SAMPLES.length)
    }
    if ((row + 1) % 20 === 0) console.log(`tile ${left},${top}: ${row + 1} of ${height} rows drawn`)
  }
  writeFileSync(join(folder, `${left}-${top}-${width}-${height}.rgb`), pixels)
}
