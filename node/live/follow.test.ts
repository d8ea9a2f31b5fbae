import assert from 'node:assert/strict'
import { appendFileSync, closeSync, mkdirSync, mkdtempSync, openSync, renameSync, rmSync, truncateSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import fc from 'fast-check'
import { until } from '../testing/live/until.ts'
import { type Followed, type Place, type Reader, sendFile } from './follow.ts'

const SEEN = 64
const ASKED = { offset: 0, until: 0, lines: 0, identity: '', seen: new Uint8Array(), follow: true }

let root = ''
let number = 0
before(() => {
  root = mkdtempSync(join(tmpdir(), 'talko-follow-'))
})
after(() => rmSync(root, { recursive: true }))

/** A file somebody follows, who loses the connection whenever the test says so and goes on where it was. */
class Watched {
  readonly folder = join(root, String(number++))
  readonly file = join(this.folder, 'out', 'log')
  readonly places: Place[] = []
  /** What was read of each file, or of what was in it before it was cut. */
  readonly parts: string[] = []
  state: 'running' | 'complete' = 'running'
  #at = 0
  #identity = ''
  #gone = new AbortController()
  #running: Promise<unknown> = Promise.resolve()

  constructor() {
    mkdirSync(join(this.folder, 'out'), { recursive: true })
  }

  get text(): string {
    return this.parts.at(-1) ?? ''
  }

  connect(): void {
    const gone = new AbortController()
    this.#gone = gone
    const seen = Buffer.from(this.text.slice(-SEEN)).subarray(-this.#at || SEEN)
    const followed: Followed = { folder: this.folder, path: ['out', 'log'], watched: join(this.folder, 'out'), state: () => this.state }
    const reader: Reader = {
      gone: gone.signal,
      place: async (place) => {
        if (gone.signal.aborted) return
        this.places.push(place)
        if (place.identity !== this.#identity || place.offset !== this.#at) this.parts.push('')
        this.#identity = place.identity
        this.#at = place.offset
      },
      data: async (bytes) => {
        if (gone.signal.aborted) return
        this.#at += bytes.length
        this.parts.push(this.text + Buffer.from(bytes).toString('latin1'))
        this.parts.splice(-2, 1)
      }
    }
    this.#running = sendFile(followed, { ...ASKED, offset: this.#at, identity: this.#identity, seen: this.#at === 0 ? new Uint8Array() : seen }, reader)
  }

  async cut(): Promise<void> {
    this.#gone.abort()
    await this.#running
  }

  async end(): Promise<void> {
    this.state = 'complete'
    await this.#running
  }
}

/** Begin, end and length, so that a failure can be read. */
const short = (text: string): string => `${text.slice(0, 20)} … ${text.slice(-20)}, ${text.length}`

type Step = { readonly kind: 'append'; readonly bytes: number } | { readonly kind: 'rotate' | 'truncate' | 'rewrite' | 'cut' | 'back' }

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('append' as const), bytes: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constant(100_000)) }) },
  { weight: 3, arbitrary: fc.constantFrom({ kind: 'cut' as const }, { kind: 'back' as const }) },
  { weight: 2, arbitrary: fc.constantFrom({ kind: 'rotate' as const }, { kind: 'truncate' as const }, { kind: 'rewrite' as const }) }
)

describe('a followed file', () => {
  it('is read without gap or repeat, over lost connections, rotation and cuts', async () => {
    const property = fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 14 }), async (steps) => {
      const watched = new Watched()
      let lines = 0
      let connected = true
      const expected = ['']
      const append = (bytes: number): void => {
        let text = ''
        while (text.length < bytes) text += `line ${lines++}\n`
        appendFileSync(watched.file, text)
        expected.push((expected.pop() ?? '') + text)
      }
      // What was not read before it was cut away is gone, and of two rotations that nobody saw only the last can be told.
      const caughtUp = (): Promise<unknown> => until('the reader', () => watched.text === expected.at(-1) && watched.parts.length === expected.length)
      append(10)
      watched.connect()
      await caughtUp()
      for (const one of steps) {
        if (one.kind === 'append') append(one.bytes)
        else if (one.kind === 'cut') {
          if (connected) await watched.cut()
          connected = false
        } else {
          if (!connected) watched.connect()
          connected = true
          if (one.kind === 'back') continue
          await caughtUp()
          // Half of the time while nobody looks.
          connected = lines % 2 === 0
          if (!connected) await watched.cut()
          if (one.kind === 'rotate') renameSync(watched.file, `${watched.file}.1`)
          if (one.kind === 'truncate') truncateSync(watched.file, 0)
          if (one.kind === 'rewrite') writeFileSync(watched.file, 'x'.repeat(expected.at(-1)?.length ?? 0))
          expected.push(one.kind === 'rewrite' ? 'x'.repeat(expected.at(-1)?.length ?? 0) : '')
          append(10)
          if (!connected) watched.connect()
          connected = true
          await caughtUp()
        }
      }
      if (!connected) watched.connect()
      await watched.end()
      assert.deepEqual(watched.parts.map(short), expected.map(short))
      assert.ok(watched.parts.every((part, index) => part === expected[index]))
      assert.ok(watched.places.every(({ missed }) => !missed))
    })
    // They mostly wait for the next look at the file: several go at once.
    await Promise.all(Array.from({ length: 4 }, () => fc.assert(property, { numRuns: 15 })))
  })

  it('is waited for until it is there', async () => {
    const watched = new Watched()
    watched.connect()
    writeFileSync(watched.file, 'late\n')
    await until('it', () => watched.text === 'late\n')
    await watched.end()
  })

  it('says that some is missing when it was replaced and removed while nobody looked', async () => {
    const watched = new Watched()
    writeFileSync(watched.file, 'one\n')
    watched.connect()
    await until('it', () => watched.text === 'one\n')
    await watched.cut()
    rmSync(watched.file)
    writeFileSync(watched.file, 'two\n')
    watched.connect()
    await watched.end()
    assert.deepEqual(watched.parts, ['one\n', 'two\n'])
    assert.equal(watched.places.at(-1)?.missed, true)
  })

  it('of another run that is not as far yet is waited for, not begun anew', async () => {
    const watched = new Watched()
    writeFileSync(watched.file, 'abc')
    const got: string[] = []
    const reading = sendFile(
      { folder: watched.folder, path: ['out', 'log'], state: () => watched.state },
      { ...ASKED, offset: 5 },
      {
        gone: new AbortController().signal,
        place: async ({ offset }) => void got.push(String(offset)),
        data: async (bytes) => void got.push(Buffer.from(bytes).toString())
      }
    )
    await until('it', () => got.length === 1)
    appendFileSync(watched.file, 'defg')
    watched.state = 'complete'
    await reading
    assert.deepEqual(got, ['5', 'fg'])
  })
})

/** What a reading gives of what there is now. */
async function readNow(watched: Watched, asked: Partial<typeof ASKED> = {}, onData: () => void = () => {}): Promise<string> {
  let text = ''
  await sendFile(
    { folder: watched.folder, path: ['out', 'log'], state: () => watched.state },
    { ...ASKED, follow: false, ...asked },
    {
      gone: new AbortController().signal,
      place: async () => {},
      data: async (bytes) => {
        text += Buffer.from(bytes).toString('latin1')
        onData()
      }
    }
  )
  return text
}

describe('a file that is read once', () => {
  it('gives the range, or the last lines, that were asked for', async () => {
    const watched = new Watched()
    writeFileSync(watched.file, 'one\ntwo\nthree\n')
    assert.equal(await readNow(watched), 'one\ntwo\nthree\n')
    assert.equal(await readNow(watched, { offset: 4, until: 7 }), 'two')
    assert.equal(await readNow(watched, { lines: 2 }), 'two\nthree\n')
    await assert.rejects(readNow({ ...watched, folder: join(root, 'none') } as Watched), { code: 'no_file' })
  })

  it('is as it was at one moment while somebody rewrites it as a whole', async () => {
    const watched = new Watched()
    writeFileSync(watched.file, 'a'.repeat(300_000))
    const fd = openSync(watched.file, 'r+')
    let turn = 0
    const writer = setInterval(() => writeSync(fd, (turn++ % 2 === 0 ? 'b' : 'a').repeat(300_000), 0), 1)
    try {
      for (let round = 0; round < 30; round++) {
        const text = await readNow(watched).catch((error) => (error.code === 'changed' ? '' : Promise.reject(error)))
        assert.equal(new Set(text).size, text === '' ? 0 : 1, 'parts of two versions')
      }
    } finally {
      clearInterval(writer)
      closeSync(fd)
    }
  })

  it('ends where it ended when it was opened, however fast it grows, and is refused when it was cut or rewritten meanwhile', async () => {
    const watched = new Watched()
    const bytes = 3 * 1024 * 1024
    writeFileSync(watched.file, 'a'.repeat(bytes))
    const grown = await readNow(watched, {}, () => appendFileSync(watched.file, 'b'.repeat(100_000)))
    assert.equal(grown, 'a'.repeat(bytes))
    await assert.rejects(
      readNow(watched, {}, () => truncateSync(watched.file, 10)),
      { code: 'changed' }
    )
  })
})
