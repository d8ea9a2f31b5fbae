/** Small networks that mostly wait, for silence and for what comes over long lines: each of its own, all at the same time. Within each one thing comes after the other. */
import { describe } from 'node:test'
import { banThroughRelay } from './callers.ts'
import { hearThroughOthers } from './hints.ts'
import { followFarAway } from './live.ts'

describe('small networks', { concurrency: true }, () => {
  followFarAway(false)
  followFarAway(true)
  hearThroughOthers()
  banThroughRelay()
})
