/** A file that a person wrote as YAML: whatever does not fit is refused with its line. Pure. */
import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml'
import { messageOf } from '#protocol/message-of'
import { ClientError } from './errors.ts'

export type Fields = ReadonlyMap<string, Node>

export class YamlFile {
  readonly root: Node | null
  readonly #lines = new LineCounter()
  readonly #place: string

  /** `what` it is, for who gave too much of it; `place` stands before the line in what is refused. Throws ClientError `usage`. */
  constructor(text: string, { what, charsMax, place = '' }: { readonly what: string; readonly charsMax: number; readonly place?: string }) {
    this.#place = place
    if (text.length > charsMax) throw new ClientError('usage', `${place}${what} has at most ${charsMax} characters`)
    const document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false, uniqueKeys: true })
    const [error] = [...document.errors, ...document.warnings]
    if (error !== undefined) throw new ClientError('usage', `${place}line ${this.#lines.linePos(error.pos[0]).line}: ${error.message}`)
    this.root = document.contents
  }

  /** What a map with these keys, and no others, says. */
  fields(node: Node | null, what: string, keys: readonly string[]): Fields {
    const pairs = this.pairs(node, what)
    for (const [key, value] of pairs) if (!keys.includes(key)) this.refuse(value, `${what} has no ${JSON.stringify(key)}; it may have ${keys.join(', ')}`)
    return new Map(pairs)
  }

  pairs(node: Node | null, what: string): (readonly [string, Node])[] {
    if (!isMap(node)) return this.refuse(node, `${what} must be names and what they stand for`)
    return node.items.map(({ key, value }) => {
      if (!isScalar(key) || value === null) return this.refuse((key as Node | null) ?? node, `${what} has a name that stands for nothing`)
      return [String(key.value), value as Node] as const
    })
  }

  texts(node: Node | undefined, what: string): Record<string, string> {
    return node === undefined ? {} : Object.fromEntries(this.pairs(node, what).map(([key, value]) => [key, this.text(value) ?? '']))
  }

  list(node: Node | undefined, what: string): readonly string[] {
    if (node === undefined) return []
    if (!isSeq(node)) return this.refuse(node, `${what} is a list`)
    return node.items.map((item) => this.text(item as Node) ?? '')
  }

  text(node: Node | undefined): string | undefined {
    if (node === undefined) return undefined
    if (!isScalar(node) || node.value === null || typeof node.value === 'object') return this.refuse(node, 'a text is expected here')
    return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value))
  }

  flag(node: Node | undefined): boolean {
    if (node === undefined) return false
    if (!isScalar(node) || typeof node.value !== 'boolean') return this.refuse(node, 'true or false is expected here')
    return node.value
  }

  /** A text is a shell's line. */
  command(node: Node | undefined): readonly string[] {
    if (node === undefined) return []
    return isSeq(node) ? this.list(node, 'command') : ['sh', '-c', this.text(node) ?? '']
  }

  tried<T>(node: Node, read: () => T): T {
    try {
      return read()
    } catch (error) {
      return this.refuse(node, messageOf(error))
    }
  }

  line(node: Node | null): number {
    return Math.max(1, this.#lines.linePos(node?.range?.[0] ?? 0).line)
  }

  refuse(node: Node | null, message: string): never {
    throw new ClientError('usage', `${this.#place}line ${this.line(node)}: ${message}`)
  }
}
