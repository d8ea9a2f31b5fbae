/** What must hold of a population at any time, whoever its hosts are. The world has more of its own, and throws. Pure. */
import type { Totals } from './meters.ts'

/** What is not as it must be; undefined when all is. */
export function complaintOf(totals: Readonly<Totals>): string | undefined {
  const rules: readonly (readonly [holds: boolean, message: string])[] = [
    [totals.ready + totals.failed <= totals.submitted, `of ${totals.submitted} tasks ${totals.ready} are ready and ${totals.failed} failed`],
    [totals.wrong <= totals.ready, `of ${totals.ready} ready tasks ${totals.wrong} are wrong`],
    [totals.revoked <= totals.wrong, `of ${totals.wrong} wrong answers ${totals.revoked} were taken back`],
    [totals.granted <= totals.leased, `of ${totals.leased} leases ${totals.granted} were granted`],
    [totals.reported + totals.errors <= totals.leased, `of ${totals.leased} leases ${totals.reported} were reported and ${totals.errors} failed`],
    [totals.reportedWrong <= totals.reported, `of ${totals.reported} results ${totals.reportedWrong} are wrong`],
    // Nothing honest is wrong, so nothing wrong can have been agreed on.
    [totals.reportedWrong > 0 || totals.wrong === 0, `no result is wrong, but ${totals.wrong} of the accepted ones are`]
  ]
  return rules.find(([holds]) => !holds)?.[1]
}
