/** The small case that a failure leaves, as a file. */
import { DEFAULT_POLICY, policyFault } from '#protocol/bundle/policy'
import { type Case, FLOOD_ACTS, HOSTILE_ACTS, NODE_FAULTS, OWNER_ACTS, RELAY_FAULTS, SERVER_FAULTS } from '../faults/case.ts'
import { ROLES } from '../protocol/service.ts'
import { TASK_KINDS } from '../protocol/truth.ts'
import { BOOTSTRAPS, STACK_FAULTS, type StackCase } from '../stack/case.ts'

/** A case of one of the levels. */
export type AnyCase = { readonly level: 'protocol'; readonly case: Case } | { readonly level: 'stack'; readonly case: StackCase }

type Fields = Readonly<Record<string, unknown>>
/** What is expected where something else stands; undefined where it does not. */
type Check = (value: unknown) => string | undefined

const whole = number(Number.isSafeInteger, 'a whole number')
const count = number((value) => Number.isSafeInteger(value) && value >= 0, 'a whole number from 0')
const amount = number(Number.isFinite, 'a number')
const share = number((value) => value >= 0 && value <= 1, 'a share from 0 to 1')
const text: Check = (value) => (typeof value === 'string' ? undefined : 'text')
const flag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false')

const NODE: Readonly<Record<string, Check>> = {
  name: text,
  role: oneOf(ROLES),
  slots: count,
  delayMs: count,
  jitterMs: count,
  loss: share,
  patienceMs: count,
  clockOffsetMs: whole,
  clockPerMille: count,
  joinsMs: whole
}
const TASK: Readonly<Record<string, Check>> = { kind: oneOf(TASK_KINDS), name: text, runMs: count, needsInput: flag }
const FAULT: Readonly<Record<string, Check>> = {
  atMs: count,
  kind: oneOf([...NODE_FAULTS, ...SERVER_FAULTS, ...OWNER_ACTS, ...HOSTILE_ACTS, ...FLOOD_ACTS, ...RELAY_FAULTS]),
  target: count,
  forMs: count,
  amount
}
const STACK_FAULT: Readonly<Record<string, Check>> = { ...FAULT, kind: oneOf(STACK_FAULTS) }

/** Those of the stack level name their keepers. Throws Error saying what is wrong, and where. */
export function parseCase(source: string): AnyCase {
  const one = mapOf(JSON.parse(source), 'the case')
  const isStack = one.keepers !== undefined
  checkFields(one, '', { seed: whole, faultsMs: count, ...(isStack ? {} : { hostile: count }) })
  checkNodes(one, 'nodes')
  if (isStack) {
    checkNodes(one, 'keepers')
    const { length } = listOf(one, 'keepers')
    if (length < BOOTSTRAPS) throw new Error(`keepers: ${BOOTSTRAPS} at least are expected, not ${length}`)
    checkFields(mapOf(one.server, 'server'), 'server', NODE)
    for (const [at, index] of listOf(one, 'pinned')) checkFields({ [at]: index }, '', { [at]: count })
  }
  for (const [at, batch] of listOf(one, 'batches')) {
    const fields = mapOf(batch, at)
    checkFields(fields, at, { atMs: count, parts: count })
    for (const [place, task] of listOf(fields, 'tasks', at)) checkFields(mapOf(task, place), place, TASK)
    const fault = policyFault({ ...DEFAULT_POLICY, ...mapOf(fields.policy, `${at}.policy`) })
    if (fault !== undefined) throw new Error(`${at}.policy: ${fault}`)
  }
  for (const [at, fault] of listOf(one, 'faults')) checkFields(mapOf(fault, at), at, isStack ? STACK_FAULT : FAULT)
  return isStack ? { level: 'stack', case: one as unknown as StackCase } : { level: 'protocol', case: one as unknown as Case }
}

function checkNodes(one: Fields, name: string): void {
  for (const [at, node] of listOf(one, name)) {
    checkFields(mapOf(node, at), at, NODE)
    if (mapOf(node, at).unruly !== undefined)
      checkFields(mapOf(mapOf(node, at).unruly, `${at}.unruly`), `${at}.unruly`, { lost: share, doubled: share, late: share })
  }
}

function checkFields(fields: Fields, at: string, checks: Readonly<Record<string, Check>>): void {
  for (const [name, check] of Object.entries(checks)) {
    const expected = check(fields[name])
    if (expected !== undefined)
      throw new Error(`${at === '' ? '' : `${at}.`}${name}: ${expected} is expected, not ${JSON.stringify(fields[name]) ?? 'nothing'}`)
  }
}

function mapOf(value: unknown, at: string): Fields {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw new Error(`${at}: a map is expected, not ${JSON.stringify(value) ?? 'nothing'}`)
  return value as Fields
}

/** Its items, with the place of each. */
function listOf(fields: Fields, name: string, around = ''): readonly (readonly [at: string, item: unknown])[] {
  const [at, list] = [around === '' ? name : `${around}.${name}`, fields[name]]
  if (!Array.isArray(list)) throw new Error(`${at}: a list is expected, not ${JSON.stringify(list) ?? 'nothing'}`)
  return list.map((item: unknown, index) => [`${at}[${index}]`, item] as const)
}

function number(holds: (value: number) => boolean, expected: string): Check {
  return (value) => (typeof value === 'number' && holds(value) ? undefined : expected)
}

function oneOf(words: readonly string[]): Check {
  return (value) => (words.some((word) => word === value) ? undefined : `one of ${words.join(', ')}`)
}
