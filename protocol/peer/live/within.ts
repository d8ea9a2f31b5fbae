/** Resolves when the work has ended, or after so long; rejects as it does. The work itself goes on. */
export async function within(ms: number, work: unknown): Promise<void> {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, ms)
  try {
    await Promise.race([work, timeout.promise])
  } finally {
    clearTimeout(timer)
  }
}
