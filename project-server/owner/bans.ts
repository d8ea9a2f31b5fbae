/** Whom the project lets in no more: the administrator alone changes it, and says why. */
import { type BanAnswer, type BanTarget, type BanView, banTargetFault, networkPrefix } from '#protocol/owner/bans'
import type { Ban } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import { clip } from '../control/inbound.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { BANS_MAX, HOLD_REASON_CHARS_MAX } from '../coordinator/policy.ts'
import { isPeer } from '../project.ts'
import type { Members } from './grants.ts'
import { type OpenRequest, OwnerError } from './request.ts'

export interface BanPorts {
  readonly members: Pick<Members, 'isAdministrator'>
  readonly committer: Pick<Committer, 'commit'>
  readonly coordinator: Pick<Coordinator, 'bans' | 'banned'>
}

/** Durable when it answers. Throws OwnerError `not_owner`, `malformed`, `not_found`, `too_large`. */
export async function ban(request: Ban, { client: by }: Pick<OpenRequest, 'client'>, { members, committer, coordinator }: BanPorts): Promise<BanAnswer> {
  if (!members.isAdministrator(by)) throw new OwnerError('not_owner', 'only the administrator of the project, the first of its owners, bans nodes')
  const fault = banTargetFault(request, isPeer)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  // One network is one ban, whichever of its addresses names it.
  const target = { kind: request.kind, value: (request.kind === 'network' ? networkPrefix(request.value) : undefined) ?? request.value } as BanTarget
  const { lift, dryRun } = request
  const isBanned = findBan(coordinator.bans(), target) !== undefined
  if (lift && !isBanned) throw new OwnerError('not_found', `${target.kind} ${target.value} is not banned; talko ban list shows who is`)
  if (!lift && !isBanned && coordinator.bans().length >= BANS_MAX)
    throw new OwnerError('too_large', `the project has ${BANS_MAX} bans, which is as many as it can; ban wider networks (talko ban add 203.0.0.0/16)`)
  const nodes = coordinator.banned(target)
  if (!dryRun) await committer.commit({ kind: 'ban', by, target, reason: clip(request.reason, HOLD_REASON_CHARS_MAX), lift })
  return { target, banned: !lift, nodes: nodes.slice(0, BAN_NODES_NAMED_MAX), more: Math.max(0, nodes.length - BAN_NODES_NAMED_MAX) }
}

/** Nodes that are named in one answer; the others are counted. */
const BAN_NODES_NAMED_MAX = 1000

function findBan(bans: readonly BanView[], { kind, value }: BanTarget): BanView | undefined {
  return bans.find((one) => one.kind === kind && one.value === value)
}
