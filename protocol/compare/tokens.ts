/** Text, CSV and JSON as tokens, whatever the chunks they come in. Bytes are taken as they are, one character each, so that no encoding is guessed. */
import { isClose, numberOf, type Tolerance } from './numbers.ts'
import { TOKEN_CHARS_MAX } from './policy.ts'

export type TextFormat = 'text' | 'csv' | 'json'

type Chunks = AsyncIterable<Uint8Array>

/** Tokens of a chunk, and what of it waits for more. */
interface Cut {
  readonly tokens: string[]
  readonly rest: string
}

interface Cutter {
  /** `last`: nothing follows, and nothing may be left. */
  cut(text: string, last: boolean): Cut
}

/**
 * Where two texts differ, undefined when they agree: the same tokens, but for numbers, which must be close.
 * - text: words, line ends, and every other character that is no blank. `x=1.5, y=2` has the numbers 1.5 and 2; `1.5kg` is a word.
 * - csv: fields (quoted or not) and what separates them: comma, semicolon, tab, line end.
 * - json: as written but for white space, with names in their order. It is not checked that it is JSON.
 */
export async function compareTexts(a: Chunks, b: Chunks, format: TextFormat, tolerance: Tolerance): Promise<string | undefined> {
  const left = tokensOf(a, format)
  const right = tokensOf(b, format)
  try {
    return await compareTokens(left, right, tolerance)
  } finally {
    await left.return(undefined)
    await right.return(undefined)
  }
}

async function compareTokens(left: AsyncIterator<string[]>, right: AsyncIterator<string[]>, tolerance: Tolerance): Promise<string | undefined> {
  let [as, bs]: [string[] | undefined, string[] | undefined] = [[], []]
  let [i, j, line] = [0, 0, 1]
  /** What goes on from a piece of full length is no number by itself. */
  let isPiece = false
  for (;;) {
    while (as !== undefined && i >= as.length) [as, i] = [await nextOf(left), 0]
    while (bs !== undefined && j >= bs.length) [bs, j] = [await nextOf(right), 0]
    if (as === undefined || bs === undefined) return as === bs ? undefined : `line ${line}: one of them goes on`
    for (const most = Math.min(as.length - i, bs.length - j) + i; i < most; i++, j++) {
      const a = as[i] as string
      const b = bs[j] as string
      if (a !== b && (isPiece || !areClose(a, b, tolerance))) return `line ${line}: ${shown(a)} and ${shown(b)}`
      if (a === '\n') line++
      isPiece = a.length >= TOKEN_CHARS_MAX
    }
  }
}

function areClose(a: string, b: string, tolerance: Tolerance): boolean {
  const x = numberOf(a)
  const y = x === undefined ? undefined : numberOf(b)
  return x !== undefined && y !== undefined && isClose(x, y, tolerance)
}

function shown(token: string): string {
  return token === '\n' ? 'a line end' : JSON.stringify(token.length > 40 ? `${token.slice(0, 40)}...` : token)
}

async function nextOf(tokens: AsyncIterator<string[]>): Promise<string[] | undefined> {
  const { done, value } = await tokens.next()
  return done === true ? undefined : value
}

/** Tokens in the order they come, many at a time. */
export async function* tokensOf(chunks: Chunks, format: TextFormat): AsyncGenerator<string[], void, undefined> {
  const cutter: Cutter = format === 'csv' ? new CsvCutter() : new WordCutter(format === 'json')
  let rest = ''
  for await (const chunk of chunks) {
    const cut = cutter.cut(rest + Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1'), false)
    rest = cut.rest
    if (cut.tokens.length > 0) yield cut.tokens
  }
  const { tokens } = cutter.cut(rest, true)
  if (tokens.length > 0) yield tokens
}

/** A word, at most so long; or a line end, a quote, or any other character but a blank. */
const WORD = new RegExp(`[0-9A-Za-z_.+\\-\\x80-\\xff]{1,${TOKEN_CHARS_MAX}}|\\n|[^\\s]`, 'g')
/** A part of a JSON string up to its end: an escape is never cut. */
const STRING = new RegExp(`(?:[^"\\\\]|\\\\[\\s\\S]){1,${TOKEN_CHARS_MAX - 2}}|"`, 'y')
const WORD_START = /[0-9A-Za-z_.+\-\x80-\xff]/

class WordCutter implements Cutter {
  readonly #json: boolean
  #inString = false

  constructor(json: boolean) {
    this.#json = json
  }

  cut(text: string, last: boolean): Cut {
    const tokens: string[] = []
    let at = 0
    while (at < text.length) {
      const pattern = this.#inString ? STRING : WORD
      pattern.lastIndex = at
      const match = pattern.exec(text)
      if (match === null) {
        // Blanks; or a lone backslash at the end, which waits for what it escapes.
        if (this.#inString && !last) return { tokens, rest: text.slice(at) }
        if (this.#inString) tokens.push(`"${text.slice(at)}`)
        return { tokens, rest: '' }
      }
      const [token] = match
      const end = match.index + token.length
      // Cut at the same places however the chunks lie: what touches the end may go on.
      const mayGoOn = this.#inString ? token !== '"' && end >= text.length - 1 : end === text.length && WORD_START.test(token) && token.length < TOKEN_CHARS_MAX
      if (mayGoOn && !last) return { tokens, rest: text.slice(match.index) }
      at = end
      if (this.#inString) {
        // A part of a string begins with a quote, so it is never taken for a number.
        tokens.push(token === '"' ? token : `"${token}`)
        if (token === '"') this.#inString = false
      } else if (!this.#json) tokens.push(token)
      else if (token === '"') this.#inString = true
      else if (token !== '\n') tokens.push(token)
    }
    return { tokens, rest: '' }
  }
}

const SEPARATORS: ReadonlySet<string> = new Set([',', ';', '\t', '\n'])
/** What lies outside quotes up to a separator. */
const PLAIN = new RegExp(`[^,;\\t\\n]{1,${TOKEN_CHARS_MAX}}`, 'y')
const QUOTED = new RegExp(`(?:[^"]|""){1,${TOKEN_CHARS_MAX / 2}}`, 'y')

/** A field begins after a separator; one that begins with a quote goes on to the next single one. */
class CsvCutter implements Cutter {
  #quoted = false
  #fresh = true

  cut(text: string, last: boolean): Cut {
    const tokens: string[] = []
    let at = 0
    while (at < text.length) {
      const char = text[at] as string
      if (!this.#quoted && SEPARATORS.has(char)) {
        tokens.push(char)
        this.#fresh = true
        at++
        continue
      }
      if (!this.#quoted && this.#fresh && char === '"') {
        this.#quoted = true
        this.#fresh = false
        at++
        continue
      }
      const pattern = this.#quoted ? QUOTED : PLAIN
      pattern.lastIndex = at
      const token = pattern.exec(text)?.[0] ?? ''
      const end = at + token.length
      // A quote at the end may be the first of two.
      if (!last && end >= text.length - 1) return { tokens, rest: text.slice(at) }
      const field = this.#quoted ? token : token.replace(/\r$/, '')
      if (field !== '') tokens.push(this.#quoted ? quoted(field) : field)
      this.#fresh = false
      at = end
      if (this.#quoted && text[at] === '"') {
        this.#quoted = false
        at++
      }
    }
    return { tokens, rest: '' }
  }
}

/** A number in quotes is a number; other quoted text is never taken for a separator. */
function quoted(token: string): string {
  return numberOf(token) === undefined ? `"${token}` : token
}
