/** The node's folder: its settings, its key, and what a stranger may find wrong with them. */
import { chmod, mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { peerIdFromString } from '@libp2p/peer-id'
import { createDurably } from '#protocol/content/live/durable'
import type { Ownership } from '#protocol/control/owner'
import type { PeerIdString } from '#protocol/ids'
import { isMultiaddr } from '#protocol/peer/addresses'
import { generateIdentity, identityOfText, keyText, type Signer } from '#protocol/signing/keys'
import { NodeError } from '../errors.ts'
import type { NodeSettings } from '../settings.ts'
import { settingsFault } from '../settings.ts'

const SETTINGS = 'node.json'
const KEY = 'node.key'
const SETTINGS_BYTES_MAX = 256 * 1024

/** Writes `node.json` and `node.key`. Throws NodeError `exists` or `bad_settings`. `claim` signs for the node's key whose it is. */
export async function makeNodeFolder(dir: string, given: NodeSettings, claim?: (node: PeerIdString) => Ownership): Promise<Signer> {
  check(claim === undefined ? given : { ...given, owner: NOBODY }, 'the settings')
  await mkdir(dir, { recursive: true })
  if (await exists(join(dir, SETTINGS)))
    throw new NodeError('exists', `there is a node in ${dir} already; start it (talko node start), or choose another folder`)
  // The key first: a folder with settings is a whole one.
  const signer = (await exists(join(dir, KEY))) ? await readKey(dir) : await makeKey(dir)
  const settings = claim === undefined ? given : { ...given, owner: toText(claim(signer.peerId)) }
  await createDurably(join(dir, SETTINGS), `${JSON.stringify({ v: 1, ...settings }, null, 2)}\n`, 0o666)
  return signer
}

/** A stand-in until the key is there that is signed for. */
const NOBODY = { client: '', signature: Buffer.alloc(64).toString('base64') }

function toText({ client, signature }: Ownership): NonNullable<NodeSettings['owner']> {
  return { client, signature: Buffer.from(signature).toString('base64') }
}

/** Throws NodeError `not_a_node_folder`, `bad_settings` or `bad_key`. */
export async function readNodeFolder(dir: string): Promise<{ readonly settings: NodeSettings; readonly signer: Signer }> {
  const path = join(dir, SETTINGS)
  if (!(await exists(path))) throw new NodeError('not_a_node_folder', `there is no node in ${dir}; make one with: talko node join`)
  if ((await stat(path)).size > SETTINGS_BYTES_MAX) throw new NodeError('bad_settings', `${path} is larger than a node's settings can be`)
  let value: unknown
  try {
    value = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new NodeError('bad_settings', `${path} is not JSON; correct it, or make the node anew with: talko node join`, { cause })
  }
  check(value, path)
  return { settings: value, signer: await readKey(dir) }
}

/** How often the folder is looked for. */
const VANISH_LOOK_MS = 2_000

/** Calls back once when the node's settings are gone: removing its folder is one way to end a node (N03). The answer stops looking. */
export function watchFolder(dir: string, onGone: () => void): () => void {
  const timer = setInterval(async () => {
    if (await exists(join(dir, SETTINGS))) return
    clearInterval(timer)
    onGone()
  }, VANISH_LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function check(value: unknown, where: string): asserts value is NodeSettings {
  const fault = settingsFault(value, { isPeer, isAddress: isMultiaddr })
  if (fault !== undefined) throw new NodeError('bad_settings', `${where}: ${fault}`)
}

async function makeKey(dir: string): Promise<Signer> {
  const signer = await generateIdentity()
  await createDurably(join(dir, KEY), keyText(signer), 0o600)
  return signer
}

async function readKey(dir: string): Promise<Signer> {
  const path = join(dir, KEY)
  try {
    const text = await readFile(path, 'utf8')
    await chmod(path, 0o600)
    return identityOfText(text)
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? cause.code : undefined
    const what = code === 'ENOENT' ? 'is missing' : code === 'EACCES' || code === 'EPERM' ? 'may not be read by this user' : "is not a node's key"
    throw new NodeError('bad_key', `${path} ${what}; restore it, or remove the folder and make the node anew with: talko node join`, { cause })
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    // A disk that does not answer is no sign that the file is gone.
    return !(error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
  }
}

function isPeer(text: string): boolean {
  try {
    return peerIdFromString(text).type === 'Ed25519'
  } catch {
    return false
  }
}
