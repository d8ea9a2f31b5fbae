/** One request of a client to the part that answers it, which sees what is that client's and nothing else. */
import type { ContentStore } from '#protocol/content/content'
import type { PeerIdString } from '#protocol/ids'
import type { ProjectView } from '#protocol/owner/messages'
import type { Host } from '#protocol/peer/host'
import type { Signer } from '#protocol/signing/keys'
import type { Committer } from '../commit.ts'
import type { Comparators } from '../comparators.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import type { Handler } from '../owner-service.ts'
import type { Clock, Random, Store } from '../ports.ts'
import { ban } from './bans.ts'
import type { Changes } from './changes.ts'
import type { DataNames } from './data.ts'
import { events } from './events.ts'
import { Feeds } from './feed.ts'
import { files } from './files.ts'
import { grant, type Members } from './grants.ts'
import { kill } from './kill.ts'
import { LiveNodes, type LivePorts } from './live.ts'
import { logs } from './logs.ts'
import { makeTree } from './make.ts'
import { manage } from './manage.ts'
import { pull, remember } from './pull.ts'
import { query } from './query.ts'
import { OwnerError } from './request.ts'
import { Submissions } from './submit.ts'
import type { Views } from './views.ts'
import { watch } from './watch.ts'

export interface HandlerPorts {
  readonly host: Host
  readonly nodes: LivePorts['nodes']
  readonly content: ContentStore
  readonly store: Pick<Store, 'get' | 'getMany' | 'range'>
  readonly coordinator: Pick<Coordinator, 'room' | 'refusal' | 'batch' | 'expects' | 'bans' | 'banned' | 'nodeCredits' | 'ownerCredits'>
  readonly committer: Pick<Committer, 'apply' | 'assertOpen' | 'commit' | 'write' | 'flush'>
  readonly views: (client: PeerIdString) => Views
  readonly data: DataNames
  readonly members: Members
  readonly changes: Changes
  readonly clock: Clock
  readonly random: Random
  readonly signer: Pick<Signer, 'sign'>
  readonly comparators: Pick<Comparators, 'refusal' | 'state' | 'agreeInTurn'>
  readonly project: () => ProjectView
}

export function ownerHandler(ports: HandlerPorts): Handler {
  const submissions = new Submissions(ports)
  const nodes = new LiveNodes(ports)
  const feeds = new Feeds(nodes)
  return async (request, open) => {
    const own = { ...ports, views: ports.views(open.client), data: ports.data.of(open.client) }
    if (request.submit !== undefined) return submissions.submit(request.submit, open.client)
    if (request.query !== undefined) return query(request.query, open, own)
    if (request.watch !== undefined) return watch(request.watch.of, open, own)
    if (request.kill !== undefined) return kill(request.kill.of, open, own)
    if (request.manage !== undefined) return manage(request.manage, open, { ...own, submissions })
    if (request.events !== undefined) return events(request.events, open, own)
    if (request.logs !== undefined) return logs(request.logs, open, { ...own, nodes, feeds })
    if (request.files !== undefined) return files(request.files, open, { ...own, nodes })
    if (request.pull !== undefined) return pull(request.pull, open, own)
    if (request.grant !== undefined) return grant(request.grant, open.client, ports)
    if (request.ban !== undefined) return ban(request.ban, open, ports)
    if (request.make !== undefined) {
      const { cid, root, bytes } = await makeTree(request.make, ports.content)
      // Only its directories are new.
      await remember({ root: cid, name: request.make.name, bytes: 0 }, open.client, own)
      return { root, bytes }
    }
    throw new OwnerError('malformed', 'the request asks for nothing this server knows; the client may be newer than the server')
  }
}
