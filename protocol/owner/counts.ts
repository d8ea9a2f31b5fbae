/** How many tasks of a batch are in which state. */
import type { BatchView } from './messages.ts'

/** Those that are not over. */
export function unended({ created, running, validating }: Pick<BatchView, 'created' | 'running' | 'validating'>): number {
  return created + running + validating
}
