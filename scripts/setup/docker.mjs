/** A Docker engine that answers: the one that is there, else installed and started, with systemd or without. */
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, rmdirSync, rmSync, statfsSync } from 'node:fs'
import { get } from 'node:http'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { installPackages } from './packages.mjs'
import { ask, canInstall, run, SetupError, say, which } from './say.mjs'

const SOCKET = '/var/run/docker.sock'
const PID_FILE = '/var/run/docker.pid'
const DATA = '/var/lib/docker'
const LOG = '/var/log/talko-dockerd.log'
const START_MS_MAX = 60_000
const POLL_MS = 100
/** f_type of an overlay file system. */
const OVERLAY = 0x794c7630

export async function startDocker() {
  const { DOCKER_HOST: host } = process.env
  if (host !== undefined && host !== '') {
    // Only a local socket can be asked from here; a remote engine is the user's choice and shows itself at the first task.
    if (!host.startsWith('unix://') || (await answers(host.slice('unix://'.length)))) return
    throw new SetupError(2, `no Docker engine answers at DOCKER_HOST=${host}; start it, or unset DOCKER_HOST`)
  }
  if (await answers(SOCKET)) return
  await refuseIfElsewhere()
  if (!canInstall()) throw new SetupError(2, missing())
  if (which('dockerd') === undefined) installPackages(['docker.io', 'ca-certificates'])
  if (existsSync('/run/systemd/system')) {
    say('starting Docker (systemctl start docker)')
    run('systemctl', ['start', 'docker'])
    if (!(await answersWithin(START_MS_MAX, () => true))) throw new SetupError(1, 'Docker did not come up; see: journalctl -u docker')
    return
  }
  await startDaemon()
}

/** GET /_ping over a unix socket. */
function answers(socketPath) {
  return new Promise((resolve) => {
    const request = get({ socketPath, path: '/_ping', timeout: 2000 }, (response) => {
      response.resume()
      resolve(response.statusCode === 200)
    })
    request.on('timeout', () => request.destroy())
    request.on('error', () => resolve(false))
  })
}

async function answersWithin(ms, goOn) {
  const deadline = Date.now() + ms
  for (;;) {
    if (await answers(SOCKET)) return true
    if (Date.now() > deadline || !goOn()) return false
    await sleep(POLL_MS)
  }
}

/** Rootless Docker and Docker Desktop listen in the user's folders: usable, but only when named. */
async function refuseIfElsewhere() {
  for (const folder of [process.env.XDG_RUNTIME_DIR, join(homedir(), '.docker', 'run'), join(homedir(), '.docker', 'desktop')]) {
    const socket = folder && join(folder, 'docker.sock')
    if (socket && (await answers(socket))) throw new SetupError(2, `Docker answers at ${socket}. Use it with: export DOCKER_HOST=unix://${socket}`)
  }
}

function missing() {
  if (process.platform !== 'linux') return 'Docker does not answer. Install and start Docker Desktop (https://docs.docker.com/desktop), then try again'
  if (existsSync(SOCKET))
    return `Docker does not answer to this user. Start it with: sudo systemctl start docker. Allow yourself to use it with: sudo usermod -aG docker ${process.env.USER ?? '$USER'} (then log in again)`
  if (which('apt-get') === undefined)
    return 'Docker is missing. Install the Docker engine of your system (https://docs.docker.com/engine/install), start it, then try again'
  return 'Docker is missing or stopped. Get it with: sudo apt-get install -y docker.io && sudo systemctl start docker, then try again; or run this as root'
}

async function startDaemon() {
  mountCgroups()
  mkdirSync(DATA, { recursive: true })
  removeStalePid()
  const flags = [...networkFlags(), ...(statfsSync(DATA).type === OVERLAY ? ['--storage-driver=vfs'] : [])]
  say(`starting Docker (dockerd, log in ${LOG})`)
  const log = openSync(LOG, 'w')
  // A process group of its own and no pipe of ours: it outlives this script and holds nothing of the caller open.
  const daemon = spawn(which('dockerd'), flags, { detached: true, stdio: ['ignore', log, log], cwd: '/' })
  closeSync(log)
  let failed = false
  daemon.on('error', () => {
    failed = true
  })
  daemon.on('exit', () => {
    failed = true
  })
  const up = await answersWithin(START_MS_MAX, () => !failed)
  daemon.unref()
  if (up) return
  const last = readFileSync(LOG, 'utf8').trim().split('\n').slice(-5).join('\n')
  throw new SetupError(1, `dockerd did not come up; its log ends with:\n${last}`)
}

/** On a machine whose init mounted no cgroups at all: version 2 when its controllers are free, else version 1. */
function mountCgroups() {
  if (readFileSync('/proc/mounts', 'utf8').includes(' /sys/fs/cgroup')) return
  say('mounting cgroups')
  const root = '/sys/fs/cgroup'
  if (ask('mount', ['-t', 'cgroup2', 'none', root]) !== undefined) {
    if (/\bmemory\b/.test(readFileSync(join(root, 'cgroup.controllers'), 'utf8'))) return
    run('umount', [root])
  }
  run('mount', ['-t', 'tmpfs', '-o', 'mode=755', 'cgroup', root])
  const enabled = readFileSync('/proc/cgroups', 'utf8')
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([name, , , on]) => name !== undefined && !name.startsWith('#') && on === '1')
  // Every one of them: a controller that exists but is not mounted makes the engine lose out-of-memory reports.
  for (const [controller] of enabled) {
    const folder = join(root, controller)
    mkdirSync(folder)
    if (ask('mount', ['-t', 'cgroup', '-o', controller, 'cgroup', folder]) === undefined) rmdirSync(folder)
  }
}

/** A killed daemon leaves its pid file, and dockerd refuses to start when some other process has that number now. */
function removeStalePid() {
  if (!existsSync(PID_FILE)) return
  const pid = readFileSync(PID_FILE, 'utf8').trim()
  const alive = existsSync(`/proc/${pid}/comm`) && readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === 'dockerd'
  if (!alive) rmSync(PID_FILE, { force: true })
}

/** Tasks have no network, so an engine without firewall rules and bridge is good enough where the kernel lacks them. */
function networkFlags() {
  const works = (program) => {
    const path = which(program)
    return path !== undefined && ask(path, ['-w', '-t', 'nat', '-L', '-n']) !== undefined
  }
  if (works('iptables')) return []
  if (works('iptables-legacy')) {
    execFileSync('update-alternatives', ['--set', 'iptables', which('iptables-legacy')], { stdio: ['ignore', 2, 2] })
    return []
  }
  return ['--iptables=false', '--ip6tables=false', '--ip-masq=false', '--bridge=none']
}
