/**
 * The run bundle's manifest: what to run, in what, on what. Canonical dag-cbor; its CID is the bundle's id.
 * A data bundle has no manifest: it is a UnixFS tree and its id is the tree's root, the one kubo gives (D20).
 */
import * as dagCbor from '@ipld/dag-cbor'
import { CID } from 'multiformats/cid'
import { readCbor } from '../cbor/reader.ts'
import { Writer } from '../cbor/writer.ts'
import { cidOfBytes, cidTextOfBytes, DAG_CBOR } from '../content/cid.ts'
import { ManifestError } from './errors.ts'

export const MANIFEST_BYTES_MAX = 64 * 1024
export const COMMAND_ARGS_MAX = 1024
export const DEPENDENCIES_MAX = 256
export const ENVIRONMENT_MAX = 256
export const TEXT_BYTES_MAX = 32 * 1024

const WRITER = new Writer()

/** One input tree or file, mounted read-only at `/in/<name>`. */
export interface Dependency {
  /** File name under `/in`; one path component. */
  readonly name: string
  /** Root of the data bundle (or of a finished task's output). */
  readonly root: CID
  /** Path below the root, `''` for the root itself, components joined by `/`. */
  readonly path: string
  /** Paths (relative to the dependency) that are executable. UnixFS ids carry no modes, so the manifest does. */
  readonly executables: readonly string[]
}

/** Bounds of one execution; each overrun ends the run with its own reason. */
export interface Resources {
  readonly cpuMillis: number
  readonly memoryBytes: number
  readonly timeMs: number
  /** Output tree and /tmp together. */
  readonly diskBytes: number
  readonly pids: number
  /** A run that gives no sign of life for so long has hung and is ended: it printed nothing, changed no file at the top of its output and used less than a hundredth of a processor. Left out: nobody watches for that. */
  readonly silenceMs?: number
}

export type Engine = 'docker' | 'process'

/** GPUs that one execution has for itself. */
export interface GpuNeeds {
  readonly count: number
  /** Of each; 0 for any. */
  readonly memoryBytes: number
  /** Part of the model's name in small letters, like `a100`; '' for any. */
  readonly model: string
  /** The oldest driver, like `535.104.5`: no zero before or after that says nothing, so that one version has one spelling; '' for any. */
  readonly driver: string
}

export interface RunManifest {
  readonly kind: 'run'
  readonly v: 1
  readonly engine: Engine
  /** CID of the image node (`protocol/image`); null only for the `process` engine. */
  readonly image: CID | null
  readonly command: readonly string[]
  readonly dependencies: readonly Dependency[]
  readonly environment: Readonly<Record<string, string>>
  readonly resources: Resources
  readonly network: 'none'
  /** What two results must share to agree: exit status always, the output tree always; stdout when true. */
  readonly compareStdout: boolean
  /** System and architecture that the command needs, like `linux/arm64`; left out for what runs on any, or where the image says it. */
  readonly platform?: string
  /** Left out for none. */
  readonly gpus?: GpuNeeds
}

/** Runs are looked at about once a second, and a program that starts up is silent for a moment. */
export const SILENCE_MS_MIN = 1_000

/** GPUs of one execution, at most. */
export const GPUS_MAX = 64

export const DEFAULT_RESOURCES: Resources = {
  cpuMillis: 1000,
  memoryBytes: 2 * 1024 ** 3,
  timeMs: 3_600_000,
  diskBytes: 4 * 1024 ** 3,
  pids: 256
}

/** Canonical bytes; throws ManifestError when the manifest breaks its schema. */
export function encodeManifest(manifest: RunManifest): Uint8Array {
  checkManifest(manifest)
  const bytes = write(manifest)
  if (bytes.length > MANIFEST_BYTES_MAX) {
    throw new ManifestError(
      'manifest_too_large',
      `the manifest has ${bytes.length} bytes, at most ${MANIFEST_BYTES_MAX} are allowed; pass long argument lists as an input file`
    )
  }
  return bytes
}

/** Decodes and checks hostile bytes. Throws ManifestError; a manifest that is not in canonical form is refused, since its id would not be unique. */
export function decodeManifest(bytes: Uint8Array): RunManifest {
  if (bytes.length > MANIFEST_BYTES_MAX)
    throw new ManifestError('manifest_too_large', `the manifest has ${bytes.length} bytes, at most ${MANIFEST_BYTES_MAX} are allowed`)
  let value: unknown
  try {
    value = readCbor(bytes)
  } catch {
    return refuseSpelling(bytes)
  }
  checkManifest(value)
  return value
}

/** Says what is wrong with bytes that are not canonical: the schema first, which helps more. */
function refuseSpelling(bytes: Uint8Array): never {
  let value: unknown
  try {
    value = dagCbor.decode(bytes)
  } catch (cause) {
    throw new ManifestError('manifest_malformed', 'the manifest is not dag-cbor', { cause })
  }
  checkManifest(value)
  throw new ManifestError('manifest_malformed', 'the manifest is not in canonical form')
}

/** Canonical dag-cbor of a manifest that was checked. */
function write({ v, gpus, kind, image, engine, command, network, platform, resources, environment, dependencies, compareStdout }: RunManifest): Uint8Array {
  WRITER.map(10 + Number(gpus !== undefined) + Number(platform !== undefined))
  WRITER.text('v').int(v)
  if (gpus !== undefined) {
    WRITER.text('gpus').map(4).text('count').int(gpus.count).text('model').text(gpus.model)
    WRITER.text('driver').text(gpus.driver).text('memoryBytes').int(gpus.memoryBytes)
  }
  WRITER.text('kind').text(kind).text('image')
  if (image === null) WRITER.nil()
  else WRITER.cid(image)
  WRITER.text('engine').text(engine)
  writeTexts('command', command)
  const { pids, timeMs, cpuMillis, diskBytes, memoryBytes, silenceMs } = resources
  WRITER.text('network').text(network)
  if (platform !== undefined) WRITER.text('platform').text(platform)
  WRITER.text('resources')
    .map(5 + Number(silenceMs !== undefined))
    .text('pids')
    .int(pids)
    .text('timeMs')
    .int(timeMs)
  WRITER.text('cpuMillis').int(cpuMillis).text('diskBytes').int(diskBytes)
  if (silenceMs !== undefined) WRITER.text('silenceMs').int(silenceMs)
  WRITER.text('memoryBytes').int(memoryBytes)
  const names = Object.keys(environment)
  // Variables' names are ASCII, so that their characters compare as their bytes do.
  if (names.length > 1) names.sort((a, b) => a.length - b.length || (a < b ? -1 : 1))
  WRITER.text('environment').map(names.length)
  for (const name of names) WRITER.text(name).text(environment[name] ?? '')
  WRITER.text('dependencies').list(dependencies.length)
  for (const { name, path, root, executables } of dependencies) {
    WRITER.map(4).text('name').text(name).text('path').text(path).text('root').cid(root)
    writeTexts('executables', executables)
  }
  return WRITER.text('compareStdout').flag(compareStdout).done()
}

function writeTexts(key: string, texts: readonly string[]): void {
  WRITER.text(key).list(texts.length)
  for (const one of texts) WRITER.text(one)
}

/** The bundle's id. */
export function manifestCid(bytes: Uint8Array): CID {
  return cidOfBytes(DAG_CBOR, bytes)
}

/** The same as text. */
export function manifestCidText(bytes: Uint8Array): string {
  return cidTextOfBytes(DAG_CBOR, bytes)
}

const NAME = /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/
const PLATFORM = /^[a-z0-9]{1,16}\/[a-z0-9]{1,16}$/
const MODEL = /^[a-z0-9](?:[a-z0-9 ._()/+-]{0,62}[a-z0-9)+])?$/
/** No component begins with a zero that says nothing, and the last is none. */
const DRIVER = /^(?:(?:0|[1-9][0-9]{0,5})\.){0,3}[1-9][0-9]{0,5}$/
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/

/** A file name under `/in`. */
export function isDependencyName(name: unknown): name is string {
  return typeof name === 'string' && NAME.test(name)
}

function refuse(what: string): never {
  throw new ManifestError('manifest_malformed', what)
}

/** Only these fields, all of them but for the last two, each in its bounds. */
function checkManifest(value: unknown): asserts value is RunManifest {
  const manifest = fields(
    value,
    'the manifest',
    ['kind', 'v', 'engine', 'image', 'command', 'dependencies', 'environment', 'resources', 'network', 'compareStdout'],
    ['platform', 'gpus']
  )
  if (manifest.kind !== 'run') refuse(`unknown manifest kind ${show(manifest.kind)}`)
  if (manifest.v !== 1) refuse(`unknown manifest version ${show(manifest.v)}; this talko reads version 1`)
  if (manifest.engine !== 'docker' && manifest.engine !== 'process') refuse(`unknown engine ${show(manifest.engine)}`)
  if (manifest.engine === 'docker' ? CID.asCID(manifest.image) === null : manifest.image !== null)
    refuse('`image` must be a CID for engine docker and null for engine process')
  if (manifest.network !== 'none') refuse(`unknown network tier ${show(manifest.network)}`)
  if (typeof manifest.compareStdout !== 'boolean') refuse('`compareStdout` must be true or false')
  const command = list(manifest.command, 'command', COMMAND_ARGS_MAX)
  if (command.length === 0) refuse('`command` is empty')
  for (const argument of command) text(argument, 'a command argument')
  const names = new Set<string>()
  for (const item of list(manifest.dependencies, 'dependencies', DEPENDENCIES_MAX)) {
    const dependency = fields(item, 'a dependency', ['name', 'root', 'path', 'executables'])
    const name = dependency.name
    if (!isDependencyName(name)) refuse(`a dependency's name must match ${NAME.source}, got ${show(name)}`)
    if (names.has(name)) refuse(`two dependencies are named ${name}`)
    names.add(name)
    if (CID.asCID(dependency.root) === null) refuse(`dependency ${name}: \`root\` is not a CID`)
    if (!isRelativePath(dependency.path)) refuse(`dependency ${name}: \`path\` must be relative, without . and ..`)
    for (const path of list(dependency.executables, 'executables', 65_536))
      if (!isRelativePath(path)) refuse(`dependency ${name}: an executable's path must be relative, without . and ..`)
  }
  const environment = manifest.environment
  if (typeof environment !== 'object' || environment === null || Array.isArray(environment)) refuse('`environment` is not a map')
  const variables = Object.entries(environment)
  if (variables.length > ENVIRONMENT_MAX) refuse(`more than ${ENVIRONMENT_MAX} environment variables`)
  for (const [key, content] of variables) {
    if (!VARIABLE.test(key)) refuse(`${show(key)} is not an environment variable's name`)
    text(content, `environment variable ${key}`)
  }
  const resources = fields(manifest.resources, 'resources', ['cpuMillis', 'memoryBytes', 'timeMs', 'diskBytes', 'pids'], ['silenceMs'])
  whole(resources.cpuMillis, 'resources.cpuMillis', 1, 1_024_000)
  whole(resources.memoryBytes, 'resources.memoryBytes', 8 * 1024 ** 2, 2 ** 50)
  whole(resources.timeMs, 'resources.timeMs', 1, 365 * 86_400_000)
  whole(resources.diskBytes, 'resources.diskBytes', 0, 2 ** 50)
  whole(resources.pids, 'resources.pids', 1, 1_000_000)
  if ('silenceMs' in resources) whole(resources.silenceMs, 'resources.silenceMs', SILENCE_MS_MIN, 365 * 86_400_000)
  if ('platform' in manifest && !isPlatform(manifest.platform)) refuse(`\`platform\` is like linux/arm64, not ${show(manifest.platform)}`)
  if ('gpus' in manifest) checkGpus(manifest.gpus)
}

function checkGpus(value: unknown): void {
  const gpus = fields(value, 'gpus', ['count', 'memoryBytes', 'model', 'driver'])
  whole(gpus.count, 'gpus.count', 1, GPUS_MAX)
  whole(gpus.memoryBytes, 'gpus.memoryBytes', 0, 2 ** 50)
  if (typeof gpus.model !== 'string' || !(gpus.model === '' || MODEL.test(gpus.model)))
    refuse(`gpus.model must be part of a model's name in small letters, got ${show(gpus.model)}`)
  if (typeof gpus.driver !== 'string' || !(gpus.driver === '' || DRIVER.test(gpus.driver)))
    refuse(`gpus.driver must be a version like 535.104.5, without zeros that say nothing, got ${show(gpus.driver)}`)
}

/** System and architecture, without a variant. */
export function isPlatform(value: unknown): value is string {
  return typeof value === 'string' && PLATFORM.test(value)
}

/** Hostile values in messages: a big integer has no JSON. */
function show(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value).slice(0, 100)
}

function fields(value: unknown, what: string, names: readonly string[], optional: readonly string[] = []): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value) || CID.asCID(value) !== null) refuse(`${what} is not a map`)
  const found = Object.keys(value)
  const missing = names.find((name) => !found.includes(name))
  if (missing !== undefined) refuse(`${what} lacks \`${missing}\``)
  const extra = found.find((name) => !names.includes(name) && !optional.includes(name))
  if (extra !== undefined) refuse(`${what} has an unknown field \`${extra}\``)
  return value as Record<string, unknown>
}

function list(value: unknown, what: string, max: number): readonly unknown[] {
  if (!Array.isArray(value)) refuse(`\`${what}\` is not a list`)
  if (value.length > max) refuse(`\`${what}\` has ${value.length} items, at most ${max} are allowed`)
  return value
}

function text(value: unknown, what: string): asserts value is string {
  if (typeof value !== 'string') refuse(`${what} is not text`)
  if (value.includes('\0')) refuse(`${what} contains a NUL character`)
  if (value.length > TEXT_BYTES_MAX) refuse(`${what} is longer than ${TEXT_BYTES_MAX} characters`)
}

function whole(value: unknown, what: string, min: number, max: number): void {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < min || value > max)
    refuse(`${what} must be a whole number from ${min} to ${max}, got ${show(value)}`)
}

/** Relative, `/`-separated, no empty, `.` or `..` component; `''` is the root itself. */
export function isRelativePath(path: unknown): path is string {
  if (typeof path !== 'string' || path.length > 4096 || path.includes('\0')) return false
  return path === '' || path.split('/').every((part) => part !== '' && part !== '.' && part !== '..')
}
