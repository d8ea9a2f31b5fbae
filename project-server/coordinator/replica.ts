/** A replica in memory. */
import type { ReplicaId } from '#protocol/ids'
import { NONE } from '#protocol/lists'
import type { Needs, Node, Replica, Report, Task } from './model.ts'
import { NO_STANDING, type Standing } from './standing.ts'
import type { ReplicaState } from './states.ts'

/** What a replica begins with, or is loaded with; what is left out is as it is for most. */
export type NewReplica = Pick<Replica, 'id' | 'task' | 'attempt' | 'node' | 'state' | 'atMs' | 'signMs' | 'epoch' | 'needs' | 'granted' | 'assignSeq'> &
  Partial<
    Pick<
      Replica,
      'ranMs' | 'tookMs' | 'standing' | 'fault' | 'report' | 'gpus' | 'verdict' | 'commitment' | 'creditPage' | 'copy' | 'spent' | 'from' | 'checkpoint'
    >
  >

type Mutable<Of> = { -readonly [Key in keyof Of]: Of[Key] }

/** What most replicas never have, or only once they have a result. */
type Seldom = Pick<
  Mutable<Replica>,
  'gpus' | 'figure' | 'tells' | 'verdict' | 'commitment' | 'revealMs' | 'creditPage' | 'copy' | 'straggles' | 'spent' | 'from' | 'checkpoint' | 'saving'
>

const USUAL: Readonly<Seldom> = {
  gpus: NONE,
  figure: null,
  tells: false,
  verdict: null,
  commitment: null,
  revealMs: null,
  creditPage: 0,
  copy: false,
  straggles: false,
  spent: false,
  from: null,
  checkpoint: null,
  saving: null
}

/** What is seldom has one field in common: of a million volunteers more than a million lost replicas are kept, each until its task is decided. */
class LiveReplica implements Replica {
  readonly id: ReplicaId
  readonly task: Task
  readonly attempt: number
  readonly node: Node
  state: ReplicaState
  atMs: number
  signMs: number
  readonly epoch: number
  readonly needs: Needs
  granted: boolean
  ranMs: number
  tookMs: number
  standing: Standing
  fault: Replica['fault']
  report: Report | null
  assignSeq: number
  place = 0
  /** The same for all until one of them is set. */
  #seldom: Readonly<Seldom> = USUAL

  constructor(given: NewReplica) {
    this.id = given.id
    this.task = given.task
    this.attempt = given.attempt
    this.node = given.node
    this.state = given.state
    this.atMs = given.atMs
    this.signMs = given.signMs
    this.epoch = given.epoch
    this.needs = given.needs
    this.granted = given.granted
    this.ranMs = given.ranMs ?? 0
    this.tookMs = given.tookMs ?? 0
    this.standing = given.standing ?? NO_STANDING
    this.fault = given.fault ?? null
    this.report = given.report ?? null
    this.assignSeq = given.assignSeq
    if (given.gpus !== undefined && given.gpus.length > 0) this.#own().gpus = given.gpus
    if (given.verdict !== undefined) this.verdict = given.verdict
    if (given.commitment !== undefined) this.commitment = given.commitment
    if (given.creditPage !== undefined) this.creditPage = given.creditPage
    if (given.copy === true) this.#own().copy = true
    if (given.spent !== undefined) this.spent = given.spent
    if (given.from !== undefined && given.from !== null) this.#own().from = given.from
    if (given.checkpoint !== undefined) this.checkpoint = given.checkpoint
  }

  get gpus(): Seldom['gpus'] {
    return this.#seldom.gpus
  }

  get figure(): Seldom['figure'] {
    return this.#seldom.figure
  }

  set figure(figure: Seldom['figure']) {
    if (figure !== this.#seldom.figure) this.#own().figure = figure
  }

  get tells(): Seldom['tells'] {
    return this.#seldom.tells
  }

  set tells(tells: Seldom['tells']) {
    if (tells !== this.#seldom.tells) this.#own().tells = tells
  }

  get verdict(): Seldom['verdict'] {
    return this.#seldom.verdict
  }

  set verdict(verdict: Seldom['verdict']) {
    if (verdict !== this.#seldom.verdict) this.#own().verdict = verdict
  }

  get commitment(): Seldom['commitment'] {
    return this.#seldom.commitment
  }

  set commitment(commitment: Seldom['commitment']) {
    if (commitment !== this.#seldom.commitment) this.#own().commitment = commitment
  }

  get revealMs(): Seldom['revealMs'] {
    return this.#seldom.revealMs
  }

  set revealMs(revealMs: Seldom['revealMs']) {
    if (revealMs !== this.#seldom.revealMs) this.#own().revealMs = revealMs
  }

  get creditPage(): Seldom['creditPage'] {
    return this.#seldom.creditPage
  }

  set creditPage(creditPage: Seldom['creditPage']) {
    if (creditPage !== this.#seldom.creditPage) this.#own().creditPage = creditPage
  }

  get copy(): Seldom['copy'] {
    return this.#seldom.copy
  }

  get straggles(): Seldom['straggles'] {
    return this.#seldom.straggles
  }

  set straggles(straggles: Seldom['straggles']) {
    if (straggles !== this.#seldom.straggles) this.#own().straggles = straggles
  }

  get spent(): Seldom['spent'] {
    return this.#seldom.spent
  }

  set spent(spent: Seldom['spent']) {
    if (spent !== this.#seldom.spent) this.#own().spent = spent
  }

  get from(): Seldom['from'] {
    return this.#seldom.from
  }

  get checkpoint(): Seldom['checkpoint'] {
    return this.#seldom.checkpoint
  }

  set checkpoint(checkpoint: Seldom['checkpoint']) {
    if (checkpoint !== this.#seldom.checkpoint) this.#own().checkpoint = checkpoint
  }

  get saving(): Seldom['saving'] {
    return this.#seldom.saving
  }

  set saving(saving: Seldom['saving']) {
    if (saving !== this.#seldom.saving) this.#own().saving = saving
  }

  /** To be written to. */
  #own(): Seldom {
    if (this.#seldom === USUAL) this.#seldom = { ...USUAL }
    return this.#seldom as Seldom
  }
}

export function newReplica(given: NewReplica): Replica {
  return new LiveReplica(given)
}
