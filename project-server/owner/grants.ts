/** Who may submit and ask, what each of them is granted, and what it used. The administrator alone changes it; the others see themselves. */
import * as dagCbor from '@ipld/dag-cbor'
import type { PeerIdString } from '#protocol/ids'
import { type ClientSettings, type ClientView, clientSettingsFault } from '#protocol/owner/clients'
import type { Grant } from '#protocol/owner/messages'
import type { Committer } from '../commit.ts'
import type { Coordinator } from '../coordinator/coordinator.ts'
import { CLIENTS_MAX } from '../coordinator/policy.ts'
import { administratorOf, isPeer, type ProjectFile } from '../project.ts'
import { OwnerError } from './request.ts'

/** A project's clients: those of its file, those that were added, less those that were removed. */
export class Members {
  readonly #file: Pick<ProjectFile, 'owners'>
  readonly #coordinator: Pick<Coordinator, 'client' | 'clients' | 'isMember'>

  constructor(file: Pick<ProjectFile, 'owners'>, coordinator: Pick<Coordinator, 'client' | 'clients' | 'isMember'>) {
    this.#file = file
    this.#coordinator = coordinator
  }

  has(client: PeerIdString): boolean {
    return this.isAdministrator(client) || (this.#coordinator.isMember(client) ?? this.#file.owners.includes(client))
  }

  isAdministrator(client: PeerIdString): boolean {
    return client === administratorOf(this.#file)
  }

  view(client: PeerIdString): ClientView {
    return { ...this.#coordinator.client(client), administrator: this.isAdministrator(client), member: this.has(client) }
  }

  /** All for the administrator, itself for another; the administrator first. */
  viewsFor(client: PeerIdString): readonly ClientView[] {
    if (!this.isAdministrator(client)) return [this.view(client)]
    return [...new Set([...this.#file.owners, ...this.#coordinator.clients()])].map((id) => this.view(id))
  }
}

export interface GrantPorts {
  readonly members: Members
  readonly committer: Pick<Committer, 'commit'>
}

/** Durable when it answers. Throws OwnerError `not_owner`, `malformed`, `too_large`. */
export async function grant(request: Grant, by: PeerIdString, { members, committer }: GrantPorts): Promise<ClientView> {
  const { client, member } = request
  if (!members.isAdministrator(by))
    throw new OwnerError('not_owner', 'only the administrator of the project, the first of its owners, changes what its clients may')
  if (!isPeer(client)) throw new OwnerError('malformed', 'a client is named by its peer id such as 12D3KooW…')
  if (members.isAdministrator(client) && member === false) throw new OwnerError('malformed', 'the administrator cannot be removed')
  if (!members.has(client) && member !== true) throw new OwnerError('not_found', `${client} is no client of this project: add it first (talko owner add)`)
  const settings = settingsOf(request.settings)
  if (!members.viewsFor(by).some((view) => view.client === client) && members.viewsFor(by).length >= CLIENTS_MAX)
    throw new OwnerError('too_large', `the project knows ${CLIENTS_MAX} clients, which is as many as it can`)
  await committer.commit({ kind: 'client', client, settings, ...(member === undefined ? {} : { member }) })
  return members.view(client)
}

function settingsOf(bytes: Uint8Array): Partial<ClientSettings> {
  if (bytes.length === 0) return {}
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch (cause) {
    throw new OwnerError('malformed', 'the settings are not dag-cbor', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new OwnerError('malformed', 'the settings are not a map')
  const fault = clientSettingsFault(value)
  if (fault !== undefined) throw new OwnerError('malformed', fault)
  return value
}
