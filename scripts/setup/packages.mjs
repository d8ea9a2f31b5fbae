/** Debian packages, installed without questions and without starting services. */
import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { ask, canInstall, run, SetupError, say, which } from './say.mjs'

/** Programs that the tests and the demo put into their container images. */
const TOOLS = ['busybox-static', 'ca-certificates']
/** A browser for the tests of reports: one that is here, or the smallest. */
const BROWSERS = ['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome']
/** For the tests on real networks, which need root as well. */
const NETWORKS = ['iproute2', 'iptables']
const POLICY = '/usr/sbin/policy-rc.d'

export function installTools() {
  if (process.platform !== 'linux') return
  installPackages([...TOOLS, ...(BROWSERS.some(which) ? [] : [BROWSERS[0]]), ...(canInstall() ? NETWORKS : [])])
}

/** Installs those that are missing. */
export function installPackages(names) {
  const missing = names.filter((name) => !isInstalled(name))
  if (missing.length === 0) return
  if (!canInstall())
    throw new SetupError(
      2,
      `missing: ${missing.join(', ')}. Install with: sudo apt-get install -y ${missing.join(' ')} (or the like on your system), then try again`
    )
  say(`installing ${missing.join(', ')} (apt-get)`)
  const env = { DEBIAN_FRONTEND: 'noninteractive' }
  // Without systemd nothing supervises services; exit code 101 keeps dpkg from starting any.
  const guarded = !existsSync('/run/systemd/system') && !existsSync(POLICY)
  if (guarded) writeFileSync(POLICY, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  try {
    run('apt-get', ['-qq', 'update'], env)
    run('apt-get', ['-qq', '-y', '-o', 'DPkg::Lock::Timeout=300', '--no-install-recommends', 'install', ...missing], env)
  } finally {
    if (guarded) rmSync(POLICY, { force: true })
  }
}

function isInstalled(name) {
  return ask('dpkg-query', ['-W', '-f', '$' + '{db:Status-Abbrev}', name])?.startsWith('ii') ?? false
}
