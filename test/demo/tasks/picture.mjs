/** Size of the picture in pixels, and how it is cut. */
export const WIDTH = 960
export const HEIGHT = 600
export const TILE_WIDTH = 240
export const TILE_HEIGHT = 120

/** One line for each tile: `x y width height`. */
export function tileLines() {
  const lines = []
  for (let y = 0; y < HEIGHT; y += TILE_HEIGHT) for (let x = 0; x < WIDTH; x += TILE_WIDTH) lines.push(`${x} ${y} ${TILE_WIDTH} ${TILE_HEIGHT}`)
  return lines
}
