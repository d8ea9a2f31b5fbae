/** The project's folder on disk. */
import { mkdir, readFile, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { writeDurably } from '#protocol/content/live/durable'
import { generateIdentity, identityOfText, keyText, type Signer } from '#protocol/signing/keys'
import { ServerError } from '../errors.ts'
import { type ProjectFile, parseProjectFile } from '../project.ts'

export interface ProjectFolder {
  readonly file: ProjectFile
  readonly signer: Signer
}

export function statePath(dir: string): string {
  return join(dir, 'state')
}

export function contentPath(dir: string): string {
  return join(dir, 'content')
}

/** Where programs run; nothing of them stays. */
export function programsPath(dir: string): string {
  return join(dir, 'programs')
}

/** Makes the folder with a new key; throws ServerError `exists` when a project is there already, `bad_project_file`. */
export async function createProjectFolder(dir: string, file: ProjectFile): Promise<Signer> {
  const path = join(dir, 'project.json')
  if (await exists(path)) throw new ServerError('exists', `${dir} holds a project already; choose another folder`)
  parseProjectFile(JSON.stringify(file), 'the settings')
  await mkdir(dir, { recursive: true })
  const keyPath = join(dir, 'project.key')
  const signer = (await exists(keyPath)) ? await readKey(keyPath) : await generateIdentity()
  if (!(await exists(keyPath))) await writeDurably(keyPath, keyText(signer), 0o600)
  await writeDurably(path, `${JSON.stringify(file, null, 2)}\n`, 0o644)
  return signer
}

/** Reads the folder; throws ServerError `not_a_project`, `bad_project_file` or `bad_key`. */
export async function readProjectFolder(dir: string): Promise<ProjectFolder> {
  const path = join(dir, 'project.json')
  const text = await readText(path, 'not_a_project', `${dir} is not a project's folder: make one with talko init ${dir}`)
  const file = parseProjectFile(text, path)
  return { file, signer: await readKey(join(dir, 'project.key')) }
}

/** Removes all state and content: the project begins anew with the same key. */
export async function wipeProject(dir: string): Promise<void> {
  await rm(statePath(dir), { recursive: true, force: true })
  await rm(contentPath(dir), { recursive: true, force: true })
}

async function readKey(path: string): Promise<Signer> {
  const text = await readText(path, 'bad_key', `the project's key ${path} is missing: restore it from your backup; without it the project cannot be continued`)
  try {
    return identityOfText(text)
  } catch (cause) {
    throw new ServerError('bad_key', `${path} does not hold a project's key: restore it from your backup`, { cause })
  }
}

async function readText(path: string, code: 'not_a_project' | 'bad_key', message: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    // A file that is there and cannot be read says so itself.
    if (!(cause instanceof Error && 'code' in cause && (cause.code === 'ENOENT' || cause.code === 'ENOTDIR'))) throw cause
    throw new ServerError(code, message, { cause })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false
  )
}
