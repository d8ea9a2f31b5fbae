/** What the ill peer of the benchmark `abuse` can be told to do, and what it tells. */

export const ABUSES = ['flood', 'patient flood', 'slow loris', 'oversized', 'garbage', 'calls'] as const
export type Abuse = (typeof ABUSES)[number]
export type Asked = Abuse | 'all' | 'rest'
export interface Told {
  /** Connections that it had, and streams. */
  readonly calls: number
  readonly streams: number
  readonly bytes: number
}
