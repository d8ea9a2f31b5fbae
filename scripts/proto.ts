/**
 * Compiles the .proto files beside them: `npm run proto`. protons writes TypeScript namespaces, which Node cannot strip, so
 * the generated source is compiled to `.js` with `.d.ts` and those two are kept.
 */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'

const sources = [
  'protocol/control/control.proto',
  'protocol/live/live.proto',
  'protocol/owner/owner.proto',
  'protocol/relay/relay.proto',
  'protocol/sources/sources.proto',
  'protocol/reach/reach.proto',
  'protocol/parking/parking.proto'
]
const bin = (name: string): string => join('node_modules', '.bin', name)

for (const source of sources) {
  const name = basename(source, '.proto')
  const folder = dirname(source)
  const work = mkdtempSync(join('node_modules', '.proto-'))
  try {
    copyFileSync(source, join(work, `${name}.proto`))
    execFileSync(bin('protons'), [join(work, `${name}.proto`)], { stdio: 'inherit' })
    execFileSync(
      bin('tsc'),
      ['--ignoreConfig', '--target', 'es2024', '--module', 'nodenext', '--declaration', '--skipLibCheck', '--outDir', work, join(work, `${name}.ts`)],
      { stdio: 'inherit' }
    )
    for (const kind of ['js', 'd.ts']) {
      writeFileSync(
        join(folder, `${name}.${kind}`),
        `// Generated from ${name}.proto by \`npm run proto\`.\n${readFileSync(join(work, `${name}.${kind}`), 'utf8')}`
      )
    }
  } finally {
    rmSync(work, { recursive: true })
  }
}
