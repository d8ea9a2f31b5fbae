/** The first thing that a checker found wrong; the others follow from it and say nothing new. */
export class Complaints {
  first: string | undefined

  /** `what` is only made when it is needed. */
  expect(holds: boolean, what: () => string): void {
    if (!holds) this.first ??= what()
  }
}
