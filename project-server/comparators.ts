/**
 * Owners' programs that compare two outputs (protocol/compare/program.ts), run on the project's own machine by whatever executor its
 * administrator gave it. Says when it is submitted whether a program can be run here at all, and runs it on two outputs that are here.
 */
import { CID } from 'multiformats/cid'
import type { RunManifest } from '#protocol/bundle/manifest'
import { answerOf, comparatorOf } from '#protocol/compare/program'
import { ContentError, type ContentStore } from '#protocol/content/content'
import { ImageError } from '#protocol/image/errors'
import { decodeImage } from '#protocol/image/image'
import type { ProjectView } from '#protocol/owner/messages'
import type { Host } from '#protocol/peer/host'
import type { Candidate } from './coordinator/events.ts'
import { reason } from './fetch.ts'
import { COMPARATOR_SAID_CHARS_MAX } from './policy.ts'
import type { ProgramEnd, Programs } from './ports.ts'

export interface ComparatorsPorts {
  readonly content: Pick<ContentStore, 'getBlock' | 'has' | 'locate' | 'fetch' | 'list' | 'read'>
  readonly host: Host
  /** Absent where the project runs no programs. */
  readonly programs?: Programs | undefined
}

/**
 * Why there is no answer.
 * - `program`: the owner's program is at fault, whoever runs it.
 * - `project`: this machine cannot run it now.
 */
export class ComparatorError extends Error {
  override readonly name = 'ComparatorError'
  readonly of: 'program' | 'project'
  constructor(of: 'program' | 'project', message: string, options?: ErrorOptions) {
    super(message, options)
    this.of = of
  }
}

const NO_PROGRAMS =
  'this project runs no programs of its clients, so none can compare results: its administrator may allow it ("programs": ["docker"] in project.json), or compare by tolerance (--compare)'

export class Comparators {
  readonly #ports: ComparatorsPorts
  /** Bundles that gave an answer. */
  readonly #working = new Set<string>()
  #asked: Promise<unknown> = Promise.resolve()

  constructor(ports: ComparatorsPorts) {
    this.#ports = ports
  }

  /** Why tasks cannot be compared by this bundle here, for the person who submits them; undefined when they can. */
  async refusal(bundle: string): Promise<{ readonly code: 'missing_content' | 'malformed'; readonly message: string } | undefined> {
    const { programs } = this.#ports
    const malformed = (message: string) => ({ code: 'malformed', message: `the comparator ${bundle}: ${message}` }) as const
    if (programs === undefined || programs.engines.length === 0) return { code: 'malformed', message: NO_PROGRAMS }
    const manifest = await this.#manifest(bundle)
    if (manifest === undefined)
      return {
        code: 'missing_content',
        message: `the project does not hold the comparator ${bundle}, or not all that it needs: upload it first (--compare-program)`
      }
    if (typeof manifest === 'string') return malformed(manifest)
    const { engine, image, dependencies } = manifest
    if (!programs.engines.includes(engine))
      return malformed(`it needs the engine ${engine}, and this project runs programs by ${programs.engines.join(' and ')}`)
    const gone = dependencies.find(({ root, path }) => this.#ports.content.locate(root, path) === undefined)
    if (gone !== undefined) return malformed(`its input ${gone.name} has no ${gone.path}`)
    const platform = manifest.platform ?? (image === null ? undefined : await this.#platformOf(image))
    if (platform instanceof ImageError) return malformed(`${image} is no image: ${platform.message}`)
    if (platform !== undefined && platform !== programs.platform)
      return malformed(`it is for ${platform}, and the project's machine is ${programs.platform}: make one for that`)
    const trouble = await programs.trouble()
    return trouble === '' ? undefined : malformed(`the project cannot run programs now: ${trouble}`)
  }

  /** By which programs can be run here, and why none can now; for people. */
  async state(): Promise<NonNullable<ProjectView['programs']>> {
    const { programs } = this.#ports
    if (programs === undefined || programs.engines.length === 0) return { engines: [], platform: '', trouble: '' }
    return { engines: programs.engines, platform: programs.platform, trouble: await programs.trouble() }
  }

  /**
   * Whether two outputs that are here agree. What is no output folder, or prints no file, agrees with nothing: the program does not
   * see it. Nor does what the program cannot even compare with itself, when it can the other, or gave an answer before: or the
   * rubbish of a liar, or of two, would look like its own fault. Throws ComparatorError, ContentError `not_found` when an output has gone, or the signal's reason.
   */
  async agree(bundle: string, one: Candidate, other: Candidate, signal: AbortSignal): Promise<boolean> {
    if (this.#ports.programs === undefined) throw new ComparatorError('project', NO_PROGRAMS)
    const manifest = await this.#manifest(bundle)
    if (manifest === undefined || typeof manifest === 'string') throw new ComparatorError('project', `the comparator ${bundle} is not here any more`)
    if (!(await this.#isHonest(one)) || !(await this.#isHonest(other))) return false
    const [a, b] = one.vote < other.vote ? [one, other] : [other, one]
    const own = await this.#inputs(manifest, signal)
    const run = (left: Candidate, right: Candidate): Promise<ProgramEnd> => this.#run({ manifest, inputs: [...own, ...this.#shown(left, right)] }, signal)
    const end = await run(a, b)
    const answer = answerOf(end)
    if (answer !== undefined) {
      this.#working.add(bundle)
      return answer
    }
    if (end.reason === 'image') throw new ComparatorError('program', faultOf(end))
    const [readsA, readsB] = [answerOf(await run(a, a)) !== undefined, answerOf(await run(b, b)) !== undefined]
    const reads = readsA && readsB
    const works = readsA || readsB || this.#working.has(bundle)
    if (reads || !works) throw new ComparatorError('program', faultOf(end))
    this.#working.add(bundle)
    return false
  }

  /** The outputs as the program finds them. */
  #shown(a: Candidate, b: Candidate): { readonly name: string; readonly path: string }[] {
    const place = (name: string, text: string): { readonly name: string; readonly path: string } => {
      const path = this.#ports.content.locate(CID.parse(text))
      if (path === undefined) throw new ContentError('not_found', `output ${text} is not here any more`)
      return { name, path }
    }
    const printed = a.stdout === null || b.stdout === null ? [] : [place('a.stdout', a.stdout), place('b.stdout', b.stdout)]
    return [place('a', a.output), place('b', b.output), ...printed]
  }

  async #run(program: Parameters<Programs['run']>[0], signal: AbortSignal): Promise<ProgramEnd> {
    const { programs } = this.#ports
    if (programs === undefined) throw new ComparatorError('project', NO_PROGRAMS)
    try {
      return await programs.run(program, signal)
    } catch (cause) {
      signal.throwIfAborted()
      throw new ComparatorError('project', reason(cause), { cause })
    }
  }

  /** For a person who asks: one after another, beside what tasks wait for. */
  async agreeInTurn(...[bundle, one, other, signal]: Parameters<Comparators['agree']>): Promise<boolean> {
    const before = this.#asked
    const asked = before.then(() => this.agree(bundle, one, other, signal))
    this.#asked = asked.catch(() => undefined)
    return asked
  }

  /** What the comparator itself brings, executable where its bundle says so. */
  async #inputs({ dependencies }: RunManifest, signal: AbortSignal): Promise<{ readonly name: string; readonly path: string }[]> {
    const { content, host } = this.#ports
    const places: { name: string; path: string }[] = []
    for (const { name, root, path, executables } of dependencies) {
      const own = CID.asCID(root) ?? root
      try {
        if (executables.length > 0) await content.fetch(own, { host, from: [], executables, signal, ...(path === '' ? {} : { path }) })
      } catch (cause) {
        signal.throwIfAborted()
        throw new ComparatorError('project', `the comparator's input ${name} cannot be made ready: ${reason(cause)}`, { cause })
      }
      const at = content.locate(own, path)
      if (at === undefined) throw new ComparatorError('project', `the comparator's input ${name} is not here any more`)
      places.push({ name, path: at })
    }
    return places
  }

  /** A folder, and a file: whatever else a node may have signed is no output. */
  async #isHonest({ output, stdout }: Candidate): Promise<boolean> {
    const { content } = this.#ports
    try {
      await content.list(CID.parse(output))
      if (stdout !== null) for await (const _ of content.read(CID.parse(stdout), undefined, { from: 0, to: 1 })) break
      return true
    } catch (error) {
      if (error instanceof ContentError && (error.code === 'not_a_directory' || error.code === 'bad_tree' || error.code === 'too_large')) return false
      throw error
    }
  }

  /** Undefined when it is not all here; a text when it is no comparator. */
  async #manifest(bundle: string): Promise<RunManifest | string | undefined> {
    const root = CID.parse(bundle)
    const bytes = this.#ports.content.has(root) ? await this.#ports.content.getBlock(root) : undefined
    return bytes === undefined ? undefined : comparatorOf(bytes)
  }

  /** Without the variant. */
  async #platformOf(image: CID): Promise<string | undefined | ImageError> {
    const block = await this.#ports.content.getBlock(CID.asCID(image) ?? image)
    try {
      return block === undefined ? undefined : decodeImage(block).platform.split('/').slice(0, 2).join('/')
    } catch (error) {
      if (error instanceof ImageError) return error
      throw error
    }
  }
}

function faultOf({ reason: how, exitCode, said }: ProgramEnd): string {
  const tail = said === '' ? '' : `: ${said.slice(-COMPARATOR_SAID_CHARS_MAX)}`
  switch (how) {
    case 'exit':
      return `it ended with exit status ${exitCode}, which is neither 0 (equal) nor 1 (different)${tail}`
    case 'hang':
      return 'it gave no sign of life and was ended'
    case 'image':
      return `its image cannot be loaded${tail}`
    default:
      return `it was ended by its ${how} limit${tail}`
  }
}
