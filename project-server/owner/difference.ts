/** How the outputs of two tasks differ: which files, told by their ids, and a guess why. */

import { CID } from 'multiformats/cid'
import { decodeManifest } from '#protocol/bundle/manifest'
import { hintOf } from '#protocol/compare/hints'
import { type CompareRules, wayOf } from '#protocol/compare/rules'
import { compareFiles, sourceOf, type TreeDifference, type TreeSource, treeDifferences } from '#protocol/compare/trees'
import { ContentError, type ContentStore } from '#protocol/content/content'
import type { TaskId } from '#protocol/ids'
import type { DifferenceView, FileDifferenceView } from '#protocol/owner/messages'
import { decodeSignedReceipt } from '#protocol/result/receipt'
import { ComparatorError, type Comparators } from '../comparators.ts'
import { treeIn, withStdout } from '../comparisons.ts'
import type { Candidate } from '../coordinator/events.ts'
import { DIFFERENCES_MAX, HINTS_FILE_BYTES_MAX, HINTS_MAX } from '../policy.ts'
import { OwnerError } from './request.ts'
import { type Names, resolveTask } from './resolve.ts'

export interface DifferencePorts extends Names {
  readonly content: Pick<ContentStore, 'list' | 'read' | 'sizeOf'>
  readonly comparators: Pick<Comparators, 'agreeInTurn'>
}

/** Throws OwnerError `not_found`, `no_output`. */
export async function difference(
  of: { readonly a: string; readonly b: string },
  ports: DifferencePorts,
  signal: AbortSignal = new AbortController().signal
): Promise<DifferenceView> {
  const a = await outputsOf(of.a, ports)
  const b = await outputsOf(of.b, ports)
  const trees = [treeIn(ports.content, a.output), treeIn(ports.content, b.output)] as const
  const files: FileDifferenceView[] = []
  let more = false
  let near = 0
  try {
    if (a.output !== b.output)
      for await (const found of treeDifferences(...trees)) {
        if (await isNear(found, trees, a.rules)) {
          near++
          continue
        }
        if (files.length >= DIFFERENCES_MAX) more = true
        if (more) break
        files.push(await withHint(found, trees, files.length < HINTS_MAX))
      }
    const printsNear = a.stdout !== b.stdout && (await isPrintedNear(a, b, ports))
    if (printsNear) near++
    const printed = a.stdout === b.stdout || printsNear ? undefined : await stdoutOf(a, b, ports)
    const said = await saidOf(a, b, ports, signal)
    return {
      files,
      more,
      ...(printed === undefined ? {} : { stdout: printed }),
      ...(near === 0 ? {} : { near }),
      ...(said === undefined ? {} : { program: said })
    }
  } catch (error) {
    if (error instanceof ContentError) throw new OwnerError('no_output', `an output cannot be read: ${error.message}`, { cause: error })
    throw error
  }
}

/** What the first one's program says of outputs that are not equal. */
async function saidOf(a: Outputs, b: Outputs, { comparators, views }: DifferencePorts, signal: AbortSignal): Promise<DifferenceView['program']> {
  const { program } = a
  if (program === undefined) return undefined
  const receipt = decodeSignedReceipt((await views.receipt(a.task)) ?? new Uint8Array(0))
  const prints = receipt === undefined || decodeManifest(receipt.manifest).compareStdout
  if (a.output === b.output && (!prints || a.stdout === b.stdout)) return undefined
  const candidate = ({ output, stdout }: Outputs): Candidate => ({ vote: `${output} ${stdout}`, nodes: [], output, stdout: prints ? stdout : null })
  try {
    return { bundle: program, agree: await comparators.agreeInTurn(program, candidate(a), candidate(b), signal) }
  } catch (error) {
    if (error instanceof ComparatorError) return { bundle: program, fault: error.message }
    throw error
  }
}

/** Under the rules that its owner gave; what they leave out agrees with anything. */
async function isNear(
  { path, what, bytesA, bytesB }: TreeDifference,
  [a, b]: readonly [TreeSource, TreeSource],
  rules: CompareRules | undefined
): Promise<boolean> {
  if (rules === undefined) return false
  const way = wayOf(path, rules)
  if (way === undefined) return true
  return what === 'differs' && (await compareFiles(sourceOf(a, path, bytesA), sourceOf(b, path, bytesB), way)) === undefined
}

async function isPrintedNear({ stdout: a, rules }: Outputs, { stdout: b }: Outputs, { content }: DifferencePorts): Promise<boolean> {
  const file = (root: string) => sourceOf(treeIn(content, root), '', content.sizeOf(CID.parse(root)) ?? 0)
  const way = rules === undefined ? undefined : wayOf('stdout', withStdout(rules))
  if (rules === undefined || way === undefined) return rules !== undefined
  return (await compareFiles(file(a), file(b), way)) === undefined
}

interface Outputs {
  readonly output: string
  readonly stdout: string
  readonly task: TaskId
  /** By which its batch is compared. */
  readonly rules: CompareRules | undefined
  readonly program: string | undefined
}

async function outputsOf(text: string, ports: DifferencePorts): Promise<Outputs> {
  const id = await resolveTask(text, ports)
  const { output, stdout, batch = '' } = (await ports.views.task(id)) ?? {}
  if (output === undefined || stdout === undefined) throw new OwnerError('no_output', `task ${id} has no output that is held here`)
  const compare = (await ports.views.batch(batch))?.policy?.compare
  return {
    output,
    stdout,
    task: id,
    rules: compare?.kind === 'tolerance' ? compare.rules : undefined,
    program: compare?.kind === 'program' ? compare.bundle : undefined
  }
}

async function withHint(found: TreeDifference, [a, b]: readonly [TreeSource, TreeSource], hinted: boolean): Promise<FileDifferenceView> {
  const { path, what, bytesA, bytesB } = found
  if (!hinted || what !== 'differs' || Math.max(bytesA, bytesB) > HINTS_FILE_BYTES_MAX) return found
  return { ...found, hint: await hintOf(path, sourceOf(a, path, bytesA), sourceOf(b, path, bytesB)) }
}

function stdoutOf(a: { stdout: string }, b: { stdout: string }, { content }: DifferencePorts): Promise<FileDifferenceView> {
  const bytesOf = (root: string): number => content.sizeOf(CID.parse(root)) ?? 0
  const found = { path: '', what: 'differs', bytesA: bytesOf(a.stdout), bytesB: bytesOf(b.stdout) } as const
  return withHint(found, [treeIn(content, a.stdout), treeIn(content, b.stdout)], true)
}
