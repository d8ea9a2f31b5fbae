/** How often each fault and each rare branch occurred: a green run proves nothing about what never happened. */
export class Sometimes {
  readonly counts = new Map<string, number>()

  see(name: string, times = 1): void {
    this.counts.set(name, (this.counts.get(name) ?? 0) + times)
  }

  add(other: Sometimes): void {
    for (const [name, times] of other.counts) this.see(name, times)
  }
}
