/** `npm run experiments`: plays experiments, prints them, and writes them down as a page and as JSON. */
import { stat, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { parseArgs } from 'node:util'
import { messageOf } from '#protocol/message-of'
import { type Figure, figureOf, isInside, NAMES, type Name, type SuccessFigure } from './figures.ts'
import { pageOfFigures } from './plot.ts'
import { linesOf } from './show.ts'

export const USAGE = `usage: npm run experiments -- [NAME...] [--seed N] [--seeds N] [--live] [--html FILE] [--json FILE]
       NAME is one of ${NAMES.join(', ')}; all without. --seeds repeats \`attempts\` and counts how often it lies in its band. --live: \`local\` and \`attempts\` on this machine, too, which takes four minutes each.`

const SEEDS_MAX = 1_000

export interface ExperimentsIo {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Plays them with real processes; where there are none to be had, nothing. */
  readonly live?: { readonly [Key in Name]?: (seed: number, tell: (line: string) => void) => Promise<Figure> }
}

export class UsageError extends Error {}

/** Exit status: 0, 2 for arguments that make no sense, 3 when a number of successes lies outside its band. */
export async function experimentsCommand(args: readonly string[], io: ExperimentsIo): Promise<number> {
  let parsed: Arguments
  try {
    parsed = parse(args)
    if (parsed.live && !parsed.names.some((name) => io.live?.[name] !== undefined))
      throw new UsageError('--live is for the experiments `local` and `attempts`, in a checkout of the sources')
    await checkFiles(parsed)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`${error.message}\n${USAGE}`)
    return 2
  }
  const { names, seed, seeds, live, html, json } = parsed
  const figures: Figure[] = []
  const simulated: SuccessFigure[] = []
  const show = (figure: Figure): void => {
    figures.push(figure)
    for (const line of linesOf(figure)) io.out(line)
    io.out('')
  }
  for (const name of names) {
    const figure = await figureOf(name, seed)
    if (figure.kind === 'success') simulated.push(figure)
    show(figure)
    const real = live ? io.live?.[name] : undefined
    if (real !== undefined) show(await real(seed, io.err))
  }
  if (html !== undefined) await writeFile(html, pageOfFigures(figures, seed))
  if (json !== undefined) await writeFile(json, `${JSON.stringify({ seed, figures }, null, 1)}\n`)
  if (simulated.length > 0 && seeds > 1) await again(simulated, { seed, seeds }, io)
  const success = figures.filter((figure) => figure.kind === 'success')
  return success.every(({ points }) => points.every(isInside)) ? 0 : 3
}

/** Before the minutes that they take. Throws UsageError. */
async function checkFiles({ html, json }: Pick<Arguments, 'html' | 'json'>): Promise<void> {
  for (const [option, file] of Object.entries({ html, json })) {
    const folder = file === undefined ? '.' : dirname(file)
    if ((await stat(folder).catch(() => undefined))?.isDirectory() !== true) throw new UsageError(`--${option} ${file}: there is no folder ${folder}`)
  }
}

/** Of many such experiments about 95 in 100 lie inside: more often would be as wrong as less. */
async function again(first: readonly SuccessFigure[], { seed, seeds }: { readonly seed: number; readonly seeds: number }, io: ExperimentsIo): Promise<void> {
  const points = first.flatMap((figure) => figure.points)
  for (let next = seed + 1; next < seed + seeds; next++) {
    const figure = await figureOf('attempts', next)
    if (figure.kind === 'success') points.push(...figure.points)
  }
  const inside = points.filter(isInside).length
  io.out(`${seeds} seeds: ${inside} of ${points.length} inside the band, ${((100 * inside) / points.length).toFixed(1)} %`)
}

interface Arguments {
  readonly names: readonly Name[]
  readonly seed: number
  readonly seeds: number
  readonly live: boolean
  readonly html: string | undefined
  readonly json: string | undefined
}

/** Throws UsageError. */
function parse(args: readonly string[]): Arguments {
  const text = { type: 'string' } as const
  const { values, positionals } = parsedOf(() =>
    parseArgs({
      args: [...args],
      options: { seed: text, seeds: text, html: text, json: text, live: { type: 'boolean', default: false } },
      allowPositionals: true
    })
  )
  const whole = (name: 'seed' | 'seeds', most: number): number => {
    const value = Number(values[name] ?? 1)
    if (!Number.isSafeInteger(value) || value < 1 || value > most) throw new UsageError(`--${name} is a whole number from 1 to ${most}, not ${values[name]}`)
    return value
  }
  const names = positionals.map((asked) => {
    const name = NAMES.find((known) => known === asked)
    if (name === undefined) throw new UsageError(`no experiment is called ${asked}; there are ${NAMES.join(', ')}`)
    return name
  })
  return {
    names: names.length === 0 ? NAMES : names,
    seed: whole('seed', 1_000_000),
    seeds: whole('seeds', SEEDS_MAX),
    live: values.live,
    html: values.html,
    json: values.json
  }
}

function parsedOf<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
