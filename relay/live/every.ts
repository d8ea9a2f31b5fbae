/** Calls again and again; the answer ends it. */
export function every(ms: number, call: () => void): () => void {
  const timer = setInterval(call, ms)
  timer.unref()
  return () => clearInterval(timer)
}
