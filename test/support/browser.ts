/** Chromium without a window: a page is opened, looked at from inside, and closed. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { promisify } from 'node:util'

const NAMES = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
const WINDOW = { width: 1280, height: 800 }
const OPEN_MS_MAX = 60_000
const OUTPUT_BYTES_MAX = 64 * 2 ** 20

export interface Box {
  readonly width: number
  readonly height: number
  readonly top: number
  readonly bottom: number
}

export interface Seen {
  /** Errors and warnings of scripts and of the console. */
  readonly errors: readonly string[]
  /** What was loaded beside the page itself. */
  readonly loaded: readonly string[]
  /** Of each element that a selector finds. */
  readonly boxes: Readonly<Record<string, readonly Box[]>>
  /** And what it says. */
  readonly texts: Readonly<Record<string, readonly string[]>>
  readonly window: typeof WINDOW
  /** How wide the page is laid out: more than the window means that it scrolls sideways. */
  readonly pageWidth: number
}

function browser(): string {
  const folders = (process.env.PATH ?? '').split(delimiter)
  const found = NAMES.flatMap((name) => folders.map((folder) => join(folder, name))).find((path) => existsSync(path))
  if (found === undefined) throw new Error(`no Chromium is here (${NAMES.join(', ')}); node scripts/setup.mjs installs one`)
  return found
}

const LISTEN = `window.talkoErrors = []
addEventListener('error', (event) => talkoErrors.push(String(event.message)))
addEventListener('unhandledrejection', (event) => talkoErrors.push(String(event.reason)))
for (const kind of ['error', 'warn']) console[kind] = (...words) => talkoErrors.push(words.join(' '))`

function look(selectors: readonly string[]): string {
  return `const [boxes, texts] = [{}, {}]
for (const selector of ${JSON.stringify(selectors)}) {
  const all = [...document.querySelectorAll(selector)]
  boxes[selector] = all.map((one) => { const { width, height, top, bottom } = one.getBoundingClientRect(); return { width, height, top, bottom } })
  texts[selector] = all.map((one) => one.textContent)
}
const loaded = performance.getEntriesByType('resource').map(({ name }) => name)
const seen = { errors: talkoErrors, loaded, boxes, texts, window: { width: innerWidth, height: innerHeight }, pageWidth: document.documentElement.scrollWidth }
const said = document.createElement('script')
said.type = 'application/json'
said.id = 'talko-seen'
said.textContent = encodeURIComponent(JSON.stringify(seen))
document.body.append(said)`
}

/** Opens a page that is given as its text. */
export async function openPage(html: string, selectors: readonly string[]): Promise<Seen> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-browser-'))
  try {
    const file = join(folder, 'page.html')
    await writeFile(file, html.replace('<head>', `<head><script>${LISTEN}</script>`).replace('</body>', `<script>${look(selectors)}</script></body>`))
    const profile = `--user-data-dir=${join(folder, 'profile')}`
    const sandbox = process.getuid?.() === 0 ? ['--no-sandbox'] : []
    const size = `--window-size=${WINDOW.width},${WINDOW.height}`
    const options = { timeout: OPEN_MS_MAX, maxBuffer: OUTPUT_BYTES_MAX, env: { ...process.env, HOME: folder } }
    const args = ['--headless', ...sandbox, '--disable-gpu', '--enable-logging=stderr', profile, size, '--dump-dom', pathToFileURL(file).href]
    const { stdout, stderr } = await promisify(execFile)(browser(), args, options)
    const said = /<script type="application\/json" id="talko-seen">([^<]*)<\/script>/.exec(stdout)?.[1]
    if (said === undefined) throw new Error(`the page could not be looked at:\n${stderr.slice(-2000)}`)
    const seen = JSON.parse(decodeURIComponent(said)) as Seen
    return { ...seen, errors: [...seen.errors, ...stderr.split('\n').filter((line) => line.includes('CONSOLE'))] }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
