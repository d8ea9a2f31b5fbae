import { execFile } from 'node:child_process'
import { access, chmod, copyFile, mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ContentStore } from '#protocol/content/content'
import { type ImportedImage, importImage } from '#protocol/image/live/import'

const BUSYBOX = '/bin/busybox'

/** Makes a root file system folder of Debian's static busybox: the shell and some 300 tools in 2 MB. Throws when it is not installed. */
export async function makeBusyboxRoot(folder: string): Promise<void> {
  await access(BUSYBOX).catch(() => {
    throw new Error('busybox is not installed; the set-up script does it, or: apt-get install busybox-static')
  })
  for (const name of ['bin', 'etc', 'in', 'out', 'tmp', 'dev', 'proc', 'sys']) await mkdir(join(folder, name), { recursive: true, mode: 0o755 })
  await copyFile(BUSYBOX, join(folder, 'bin/busybox'))
  await chmod(join(folder, 'bin/busybox'), 0o755)
  const { stdout } = await promisify(execFile)(BUSYBOX, ['--list'])
  for (const applet of stdout.split('\n')) if (/^[\w[]+[\w.[-]*$/.test(applet) && applet !== 'busybox') await symlink('busybox', join(folder, 'bin', applet))
  await writeFile(join(folder, 'etc/passwd'), 'root:x:0:0:root:/:/bin/sh\ntask:x:61000:61000:task:/tmp:/bin/sh\n')
  await chmod(join(folder, 'etc/passwd'), 0o644) // modes are part of the image: they must not depend on the umask
  for (const name of await readdir(folder)) await chmod(join(folder, name), name === 'tmp' ? 0o1777 : 0o755)
}

/** The busybox image as content of `store`; its layer lies in `workFolder`. The same image id on every machine with the same busybox. */
export async function importBusybox(store: ContentStore, workFolder: string): Promise<ImportedImage> {
  const folder = await mkdtemp(join(tmpdir(), 'talko-busybox-'))
  try {
    await makeBusyboxRoot(folder)
    return await importImage({ kind: 'folder', path: folder }, store, workFolder, { labels: { 'talko.test': '1' } })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
