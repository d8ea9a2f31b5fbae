/**
 * The picture: northern lights over a lake, five lit cabins on its shore. A pure function of the point: only + - * / and square
 * roots of numbers decide a colour, so every node draws the same bytes.
 */

/** Width over height; `x` runs from 0 to ASPECT and `y` from 0 (top) to 1. */
export const ASPECT = 1.6
const SHORE = 0.685
const AURORA_LAYERS = 44

/** A whole number -> [0, 1), the same everywhere. */
function hash(n) {
  let h = Math.imul(n ^ (n >>> 16), 0x7feb352d)
  h = Math.imul(h ^ (h >>> 15), 0x846ca68b)
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296
}

const TABLE = new Float64Array(65536)
for (let i = 0; i < TABLE.length; i++) TABLE[i] = hash(i + 1)
const cell = (i, j) => TABLE[(Math.imul(i, 157) + Math.imul(j, 12289)) & 65535]

const clamp = (x, low = 0, high = 1) => Math.max(low, Math.min(x, high))
const mix = (a, b, part) => a + (b - a) * part
function smooth(low, high, x) {
  const t = clamp((x - low) / (high - low))
  return t * t * (3 - 2 * t)
}

/** Value noise in [0, 1]. */
function noise(x, y) {
  const i = Math.floor(x)
  const j = Math.floor(y)
  const u = x - i
  const v = y - j
  const a = u * u * (3 - 2 * u)
  const b = v * v * (3 - 2 * v)
  return mix(mix(cell(i, j), cell(i + 1, j), a), mix(cell(i, j + 1), cell(i + 1, j + 1), a), b)
}

function fractal(x, y, octaves) {
  let sum = 0
  let weight = 0.5
  let total = 0
  for (let octave = 0; octave < octaves; octave++) {
    sum += weight * noise(x, y)
    total += weight
    weight *= 0.5
    const turned = x * 1.6 + y * 1.2 + 11.3
    y = y * 1.6 - x * 1.2 + 5.7
    x = turned
  }
  return sum / total
}

/** 1 at 0, falling like a bell; no exponential, whose last digit may differ between machines. */
function bell(x) {
  const square = x * x
  return 1 / (1 + square + 0.5 * square * square)
}

/** Light of the aurora towards a point of the sky, added to `out`: sheets that hang along the curls of a noise, green below and violet above. */
function aurora(x, rise, out) {
  const slope = 0.16 + rise * 1.25
  for (let layer = 0; layer < AURORA_LAYERS; layer++) {
    const part = layer / AURORA_LAYERS
    // Where the ray meets this height: far away near the horizon.
    const distance = (0.62 + 0.5 * part) / slope
    const px = (x - 0.86) * distance * 1.15 + 2.1
    const pz = distance * 1.05 + 4.2
    const bend = noise(px * 0.9 + 7.1, pz * 0.55 + 1.7)
    const sheet = noise(px * 0.62 + bend * 1.35, pz * 0.86 - bend * 0.9 + 3.3) - 0.5
    const streak = noise(px * 15 + bend * 9, pz * 2.1) * (0.3 + 0.7 * noise(px * 44, pz * 4 + 9))
    const rays = 0.25 + 2.1 * streak * streak + 0.55 * streak
    const veil = bell(sheet * 30)
    if (veil < 0.004) continue
    const patch = smooth(0.28, 0.62, noise(px * 0.45 + 19.2, pz * 0.4 + 8.8))
    const rising = smooth(0, 0.07, part)
    const fade = (1 - part) * (1 - part)
    const light = veil * patch * rays * rising * (fade + 0.12 * (1 - part)) * (0.9 + 0.35 * distance) * 0.074
    const high = smooth(0.1, 0.75, part)
    const crown = smooth(0.45, 1, part)
    out[0] += light * (0.1 + 0.95 * high + 0.5 * crown)
    out[1] += light * (1.32 - 1.05 * high)
    out[2] += light * (0.52 + 0.62 * high + 0.35 * crown)
  }
}

function stars(x, y, out) {
  for (let size = 0; size < 3; size++) {
    const scale = [46, 95, 190][size]
    const i = Math.floor(x * scale)
    const j = Math.floor(y * scale)
    const draw = hash(i * 7919 + j * 104729 + size * 15485863)
    if (draw > [0.035, 0.07, 0.1][size] * (0.4 + 1.2 * noise(x * 5 + 31, y * 7 + 17))) continue
    const sx = (i + 0.2 + 0.6 * hash(i * 31 + j * 57 + size + 3)) / scale
    const sy = (j + 0.2 + 0.6 * hash(i * 83 + j * 19 + size + 5)) / scale
    const far = ((x - sx) * (x - sx) + (y - sy) * (y - sy)) * 1_000_000
    const power = [1.5, 0.75, 0.4][size] * (0.35 + hash(i * 11 + j * 13 + size))
    const glow = power * (bell(far / 0.75) + (size === 0 ? 0.05 * bell(far / 9) : 0))
    const tint = hash(i * 3 + j * 5 + 1)
    out[0] += glow * (0.82 + 0.3 * tint)
    out[1] += glow * 0.92
    out[2] += glow * (1.16 - 0.24 * tint)
  }
}

/** Height of a fell's ridge above the shore. */
function ridge(x, layer) {
  const broad = [0.165, 0.12, 0.07][layer]
  const shape = fractal(x * [1.75, 2.3, 3.1][layer] + 13 * layer + 2.15, layer * 3.7 + 1.1, 5)
  return broad * (0.1 + 1.45 * shape * shape + 0.35 * shape) - 0.012
}

/** The fells: snow above, bare birch below, bluer with distance; true when one covers the point. */
function fells(x, rise, out) {
  for (const layer of [2, 1, 0]) {
    const top = ridge(x, layer)
    if (rise > top) continue
    const east = ridge(x + 0.004, layer)
    const facing = clamp(0.5 + (east - top) * 55)
    const grain = fractal(x * 46 + layer * 9, rise * 120 - x * 12, 4)
    const deep = (top - rise) / (top + 0.02)
    const snow = smooth(0.3, 0.62, 1 - deep * 0.75 + (grain - 0.5) * 1.1 - layer * 0.12)
    const lit = 0.35 + 0.65 * facing * (0.55 + 0.9 * grain)
    const haze = [0.5, 0.28, 0.1][layer]
    const r = mix(mix(0.012, 0.15, snow) * lit, 0.03, haze)
    const g = mix(mix(0.02, 0.27, snow) * lit, 0.1, haze)
    const b = mix(mix(0.03, 0.31, snow) * lit, 0.13, haze)
    // Mist that lies on the water's edge.
    const mist = 0.4 * bell(rise / 0.016) + 0.16 * bell(rise / 0.05)
    out[0] = r + mist * 0.06
    out[1] = g + mist * 0.17
    out[2] = b + mist * 0.19
    return true
  }
  return false
}

/** Spruces side by side: is the point inside one of them? `density` trees to the unit, `tallAt(x)` their height. */
function spruce(x, rise, density, tallAt, seed) {
  const middle = Math.floor(x * density)
  for (let at = middle - 2; at <= middle + 2; at++) {
    const centre = (at + 0.15 + 0.7 * hash(at * 53 + seed + 1)) / density
    const height = tallAt(centre) * (0.42 + 0.75 * hash(at * 97 + seed)) * (0.55 + 0.75 * noise(at * 0.21 + seed, 3.5))
    if (rise > height) continue
    const up = rise / height
    const tier = up * (9 + 5 * hash(at + seed)) + hash(at * 7 + seed)
    const saw = 1 - 0.55 * (tier - Math.floor(tier))
    const ragged = 0.8 + 0.4 * noise(x * 900, rise * 900)
    const half = height * 0.165 * (1 - up) * (0.45 + 0.75 * saw) * ragged + height * 0.006
    if (Math.abs(x - centre) < half) return true
  }
  return false
}

/** One for each volunteer: where on the shore it stands, and how large it is. */
const CABINS = [
  { x: 0.492, size: 0.021 },
  { x: 0.598, size: 0.027 },
  { x: 0.745, size: 0.02 },
  { x: 0.965, size: 0.024 },
  { x: 1.118, size: 0.02 }
]

function cabins(x, rise, out) {
  for (const { x: middle, size } of CABINS) {
    const dx = (x - middle) / size
    const dy = (rise - 0.0045) / size
    if (dx < -1.25 || dx > 1.25 || dy < 0 || dy > 1.75) continue
    const roof = 1.5 - Math.abs(dx) * 0.72
    if (dx > 0.42 && dx < 0.64 && dy > 1 && dy < 1.6) return paint(out, 0.035, 0.03, 0.032)
    if (dy > roof) continue
    if (dy > roof - 0.2 && dy > 0.62) return paint(out, 0.2, 0.33, 0.36)
    if (dx < -1 || dx > 1) continue
    for (const window of [-0.48, 0.42]) {
      const wx = Math.abs(dx - window)
      const wy = Math.abs(dy - 0.46)
      if (wx < 0.235 && wy < 0.235) {
        const bar = wx < 0.028 || wy < 0.028
        return bar ? paint(out, 0.35, 0.14, 0.03) : paint(out, 2.5 - wy * 2.4, 1.36 - wy * 1.6, 0.4 - wy * 0.6)
      }
    }
    const plank = dy * 7 - Math.floor(dy * 7)
    const lamp = 0.5 + 0.5 * bell((dy - 0.4) * 2.2)
    return paint(out, (0.085 - 0.03 * plank) * lamp, (0.03 - 0.008 * plank) * lamp, 0.016 * lamp)
  }
  return false
}

function paint(out, r, g, b) {
  out[0] = r
  out[1] = g
  out[2] = b
  return true
}

/** Warm light around the windows, in the mist and on the snow. */
function lampGlow(x, rise, out) {
  for (const { x: middle, size } of CABINS) {
    const dx = (x - middle) / size
    const dy = (rise - size * 0.5) / size
    const glow = 0.2 * bell(Math.sqrt(dx * dx + dy * dy * 1.7) / 1.15) + 0.028 * bell(Math.sqrt(dx * dx + dy * dy) / 4)
    out[0] += glow * 1.15
    out[1] += glow * 0.52
    out[2] += glow * 0.12
  }
}

/** Height of the wood on the far shore: lower around the cabins. */
function wood(x) {
  const shelter = 0.5 + 0.5 * smooth(0.15, 0.6, Math.abs(x - 0.83))
  return 0.055 * (0.35 + 1.1 * noise(x * 6.5 + 1.3, 0.4)) * shelter
}
const backWood = (x) => 1.25 * wood(x)

/** Everything above the water, `rise` above the shore line. */
function land(x, rise, out) {
  const near = 0.0062 + 0.004 * noise(x * 17, 4.2)
  if (cabins(x, rise, out)) {
    lampGlow(x, rise, out)
    return
  }
  if (rise < near) {
    const snow = 0.6 + 0.8 * noise(x * 240, rise * 1500)
    paint(out, 0.05 * snow, 0.105 * snow, 0.125 * snow)
  } else {
    if (spruce(x, rise - near * 0.6, 118, wood, 11)) paint(out, 0.004, 0.014, 0.019)
    else if (spruce(x + 0.003, rise - near * 0.6, 150, backWood, 71)) paint(out, 0.009, 0.03, 0.036)
    else if (!fells(x, rise, out)) sky(x, rise, out)
  }
  lampGlow(x, rise, out)
}

function sky(x, rise, out) {
  const up = clamp(rise / SHORE)
  const low = bell(up * 3.2)
  const west = bell((x - 1.32) * 1.7) * bell(up * 9)
  paint(out, 0.006 + 0.012 * low + 0.11 * west, 0.012 + 0.055 * low + 0.055 * west, 0.034 + 0.075 * low + 0.028 * west)
  const dim = smooth(0.02, 0.3, up)
  const before = out[1]
  aurora(x, rise, out)
  const bright = clamp((out[1] - before) * 1.4)
  const light = [0, 0, 0]
  stars(x, rise, light)
  for (let channel = 0; channel < 3; channel++) out[channel] += light[channel] * dim * (1 - 0.75 * bright)
}

/** The lake: the same world upside down, broken by ripples that grow towards us, and darker where we look down into it. */
function lake(x, depth, out) {
  const far = 1 / (depth + 0.02)
  const wave = fractal(x * 5 * far * 0.35 + 3, far * 6.2, 3) - 0.5
  const fine = fractal(x * 19 * far * 0.3 + 40, far * 21, 2) - 0.5
  const calm = smooth(0, 0.07, depth)
  const shift = (wave * 0.06 + fine * 0.035) * calm * (0.25 + depth * 2.2)
  const sway = (wave * 0.012 + fine * 0.014) * calm
  land(x + sway, Math.max(0.0005, depth * 1.06 + shift * 1.5), out)
  const glance = 0.86 - 0.5 * smooth(0, 0.32, depth)
  const glint = clamp(1 + fine * 0.9 + wave * 0.5, 0.5, 1.6)
  out[0] = out[0] * glance * glint * 0.9 + 0.002
  out[1] = out[1] * glance * glint * 0.95 + 0.007
  out[2] = out[2] * glance * glint + 0.013
  const edge = bell(depth / 0.0022)
  out[0] += 0.05 * edge
  out[1] += 0.12 * edge
  out[2] += 0.14 * edge
}

/** Where our own shore ends on either side, from the nearer edge of the picture. */
const mound = (side) => 1.015 - 0.15 * smooth(0.36, -0.05, side)
const leftTall = (x) => 1.02 * smooth(0.36, 0.02, x) + 0.05
const rightTall = (x) => 0.62 * smooth(0.3, 0.02, ASPECT - x) + 0.05

/** The dark spruces beside us and the snow they stand in; true when one covers the point. */
function frame(x, y, out) {
  const left = x < ASPECT / 2
  const side = left ? x : ASPECT - x
  if (side > 0.42) return false
  const ground = mound(side) + 0.012 * noise(x * 21, 9.1)
  const rise = ground - y
  if (rise < 0.004) {
    const snow = 0.5 + 0.75 * fractal(x * 60, y * 90, 3)
    if (rise < 0) return paint(out, 0.028 * snow, 0.068 * snow, 0.078 * snow)
  }
  if (side < 0.36 && spruce(x, rise + 0.02, 15, left ? leftTall : rightTall, left ? 5 : 29)) return paint(out, 0.0022, 0.0055, 0.0078)
  return false
}

/** The light that reaches us from a point of the picture, linear, written to `out` as red, green, blue. */
export function light(x, y, out) {
  if (frame(x, y, out)) return
  if (y < SHORE) land(x, SHORE - y, out)
  else lake(x, y - SHORE, out)
  const dx = (x - ASPECT / 2) / (ASPECT / 2)
  const dy = (y - 0.5) / 0.5
  const edge = 1 - 0.16 * (dx * dx + dy * dy)
  for (let channel = 0; channel < 3; channel++) out[channel] *= edge
}

/** Linear light -> 0..255, like film: bright parts roll off instead of clipping. */
export function develop(value) {
  const exposed = value * 1.55
  const rolled = (exposed * (2.51 * exposed + 0.03)) / (exposed * (2.43 * exposed + 0.59) + 0.14)
  return Math.min(255, Math.max(0, Math.round(255 * Math.sqrt(clamp(rolled) * (0.35 + 0.65 * Math.sqrt(clamp(rolled)))))))
}
