/** What all steps share: how they speak, fail and run a command. */
import { spawnSync } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** The repository's root folder. */
export const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** `exitCode` 2: a person has to do what the message says; 1: a step failed. */
export class SetupError extends Error {
  constructor(exitCode, message) {
    super(message)
    this.name = 'SetupError'
    this.exitCode = exitCode
  }
}

export function say(line) {
  console.error(`setup: ${line}`)
}

/** Runs a command in the root folder with its output on our stderr; throws SetupError when it fails. */
export function run(command, args, env = {}) {
  const { status, error } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 2, 2], env: { ...process.env, ...env } })
  if (status !== 0)
    throw new SetupError(1, `\`${[command, ...args].join(' ')}\` failed${error === undefined ? ` with exit code ${status}` : `: ${error.message}`}`)
}

/** What a command prints, or undefined when it fails or does not exist. */
export function ask(command, args) {
  const { status, stdout } = spawnSync(command, args, { cwd: ROOT, stdio: ['ignore', 'pipe', 'ignore'], encoding: 'utf8' })
  return status === 0 ? stdout : undefined
}

/** The full path of a program of $PATH (and of the system folders, which a user's PATH may lack); undefined when there is none. */
export function which(program) {
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/local/sbin', '/usr/sbin', '/sbin', '/usr/bin', '/bin']
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, program))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK)
        return statSync(path).isFile()
      } catch {
        return false
      }
    })
}

/** Whether packages can be installed without questions. */
export function canInstall() {
  return process.platform === 'linux' && process.getuid?.() === 0 && which('apt-get') !== undefined
}
