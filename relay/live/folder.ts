/** The relay's folder: its settings and its key. */
import { mkdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { createDurably } from '#protocol/content/live/durable'
import { isMultiaddr } from '#protocol/peer/addresses'
import { generateIdentity, identityOfText, keyText, type Signer } from '#protocol/signing/keys'
import { RelayError } from '../errors.ts'
import { type RelaySettings, settingsFault } from '../settings.ts'

const SETTINGS = 'relay.json'
const KEY = 'relay.key'
const SETTINGS_BYTES_MAX = 256 * 1024

/** Writes `relay.json` and `relay.key`. Throws RelayError `exists` or `bad_settings`. */
export async function makeRelayFolder(dir: string, settings: RelaySettings): Promise<Signer> {
  check(settings, 'the settings')
  await mkdir(dir, { recursive: true })
  if (await exists(join(dir, SETTINGS)))
    throw new RelayError('exists', `there is a relay in ${dir} already; start it (talko relay start), or choose another folder`)
  // The key first: a folder with settings is a whole one.
  const signer = (await exists(join(dir, KEY))) ? await readKey(dir) : await makeKey(dir)
  await createDurably(join(dir, SETTINGS), `${JSON.stringify({ v: 1, ...settings }, null, 2)}\n`, 0o666)
  return signer
}

/** Throws RelayError `not_a_relay_folder`, `bad_settings` or `bad_key`. */
export async function readRelayFolder(dir: string): Promise<{ readonly settings: RelaySettings; readonly signer: Signer }> {
  const path = join(dir, SETTINGS)
  if (!(await exists(path))) throw new RelayError('not_a_relay_folder', `there is no relay in ${dir}; make one with: talko relay init`)
  if ((await stat(path)).size > SETTINGS_BYTES_MAX) throw new RelayError('bad_settings', `${path} is larger than a relay's settings can be`)
  let value: unknown
  try {
    value = JSON.parse(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new RelayError('bad_settings', `${path} is not JSON; correct it, or make the relay anew with: talko relay init`, { cause })
  }
  check(value, path)
  return { settings: value, signer: await readKey(dir) }
}

function check(value: unknown, where: string): asserts value is RelaySettings {
  const fault = settingsFault(value, isMultiaddr)
  if (fault !== undefined) throw new RelayError('bad_settings', `${where}: ${fault}`)
}

async function makeKey(dir: string): Promise<Signer> {
  const signer = await generateIdentity()
  await createDurably(join(dir, KEY), keyText(signer), 0o600)
  return signer
}

async function readKey(dir: string): Promise<Signer> {
  const path = join(dir, KEY)
  try {
    return identityOfText(await readFile(path, 'utf8'))
  } catch (cause) {
    throw new RelayError('bad_key', `${path} cannot be read as a relay's key; restore it, or remove the folder and make the relay anew: talko relay init`, {
      cause
    })
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false
  )
}
