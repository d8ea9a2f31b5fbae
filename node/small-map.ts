/**
 * A map for the many that hold nothing or one thing: that one is kept in the object itself, several in a Map. It goes through its
 * entries in the order in which they came, as a Map does. An empty Map takes 200 bytes, this one 48, also with one entry.
 */
export class SmallMap<K extends string | object, V> {
  /** The only entry; undefined for none, or for several. */
  #key: K | undefined
  #value: V | undefined
  #several: Map<K, V> | undefined

  get size(): number {
    return this.#several?.size ?? (this.#key === undefined ? 0 : 1)
  }

  get(key: K): V | undefined {
    if (this.#several !== undefined) return this.#several.get(key)
    return key === this.#key ? this.#value : undefined
  }

  has(key: K): boolean {
    return this.#several?.has(key) ?? key === this.#key
  }

  set(key: K, value: V): this {
    if (this.#several !== undefined) this.#several.set(key, value)
    else if (this.#key === undefined || this.#key === key) {
      this.#key = key
      this.#value = value
    } else {
      const several = new Map(this).set(key, value)
      this.clear()
      this.#several = several
    }
    return this
  }

  delete(key: K): boolean {
    if (!this.has(key)) return false
    const several = this.#several
    several?.delete(key)
    if (several === undefined) this.clear()
    else if (several.size === 1) {
      this.clear()
      for (const [left, value] of several) this.set(left, value)
    }
    return true
  }

  clear(): void {
    this.#key = undefined
    this.#value = undefined
    this.#several = undefined
  }

  keys(): K[] {
    return [...this].map(([key]) => key)
  }

  values(): V[] {
    return [...this].map(([, value]) => value)
  }

  *[Symbol.iterator](): Generator<[K, V]> {
    if (this.#several !== undefined) yield* this.#several
    else if (this.#key !== undefined) yield [this.#key, this.#value as V]
  }
}

export class SmallSet<T extends string | object> extends SmallMap<T, true> {
  add(item: T): this {
    return this.set(item, true)
  }
}
