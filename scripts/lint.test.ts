/** The linter's own rules do catch what they are for: each bad file is linted with the project's configuration. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { after, before, describe, it } from 'node:test'

const root = resolve(import.meta.dirname, '..')
let folder: string

before(() => {
  folder = mkdtempSync(join(tmpdir(), 'talko-lint-'))
  cpSync(join(root, 'biome.json'), join(folder, 'biome.json'))
  mkdirSync(join(folder, 'scripts'))
  cpSync(join(root, 'scripts/clock-and-dice.grit'), join(folder, 'scripts/clock-and-dice.grit'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
})
after(() => rmSync(folder, { recursive: true }))

/** The rules that a file of this content breaks, for each place where it may lie. */
function faultsIn(paths: readonly string[], source: string): string[][] {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), `${source}\n`)
  }
  const { stdout, stderr } = spawnSync(join(root, 'node_modules/.bin/biome'), ['lint', '--reporter=json', '--max-diagnostics=100', ...paths], {
    cwd: folder,
    encoding: 'utf8'
  })
  for (const path of paths) rmSync(join(folder, path))
  try {
    const { diagnostics } = JSON.parse(stdout) as { diagnostics: { category: string; severity: string; location: { path: string } }[] }
    return paths.map((path) => diagnostics.filter(({ severity, location }) => severity === 'error' && location.path === path).map(({ category }) => category))
  } catch (cause) {
    throw new Error(`biome printed no report: ${stdout}${stderr}`, { cause })
  }
}

function faults(path: string, source: string): string[] | undefined {
  return faultsIn([path], source)[0]
}

const uses = (path: string): string => `import { thing } from '${path}'\nexport const used = thing`
const ARROW = 'lint/style/noRestrictedImports'

describe('import arrows', () => {
  const refused: readonly [from: string, to: string][] = [
    ['protocol/x.ts', '#node/ports'],
    ['protocol/bundle/x.ts', '../../project-server/ports.ts'],
    ['protocol/x.ts', '#project-server/ports'],
    ['protocol/x.ts', '#client-cli/index'],
    ['project-server/x.ts', '#node/main'],
    ['project-server/owner/x.ts', '../../node/main.ts'],
    ['project-server/x.ts', '#client-cli/index'],
    ['node/x.ts', '#project-server/main'],
    ['node/x.ts', '#relay/main'],
    ['relay/x.ts', '#node/main'],
    ['client-cli/x.ts', '#relay/settings'],
    ['node/live/x.ts', '#sim/world'],
    ['node/x.ts', '#test/support/ports'],
    ['client-cli/x.ts', '#test/support/ports'],
    ['client-cli/x.ts', '#node/agent/agent'],
    ['client-cli/x.ts', '#project-server/store'],
    ['client-cli/x.ts', '#sim/population/world']
  ]
  for (const [from, to] of refused) it(`${from} may not import ${to}`, () => assert.deepEqual(faults(from, uses(to)), [ARROW]))

  const allowed: readonly [from: string, to: string][] = [
    ['protocol/bundle/x.ts', '../ids.ts'],
    ['project-server/x.ts', '#protocol/ids'],
    ['node/agent/x.ts', '../ports.ts'],
    ['node/x.ts', '#protocol/ids'],
    ['client-cli/x.ts', '#protocol/ids'],
    ['client-cli/x.ts', '#node/main'],
    ['client-cli/x.ts', '#relay/main'],
    ['relay/x.ts', '#protocol/ids'],
    ['client-cli/x.ts', '#project-server/main'],
    ['client-cli/x.ts', '#sim/main'],
    ['sim/x.ts', '#node/agent/agent'],
    ['test/e2e/x.ts', '#client-cli/main'],
    ['node/x.test.ts', '#test/support/ports']
  ]
  for (const [from, to] of allowed) it(`${from} may import ${to}`, () => assert.deepEqual(faults(from, uses(to)), []))
})

describe('no clock and no dice outside live/', () => {
  const bad: readonly string[] = [
    'export const x = Date.now()',
    'export const x = Date.now',
    'export const x = new Date()',
    'export const x = performance.now()',
    'export const x = process.hrtime.bigint()',
    'export const x = Math.random()',
    'setTimeout(() => {}, 5)',
    'globalThis.setInterval(() => {}, 5)',
    'setImmediate(() => {})',
    'export const x = AbortSignal.timeout(5)',
    'export const x = crypto.randomUUID()',
    'export const x = crypto.getRandomValues(new Uint8Array(4))',
    "import { randomBytes as dice } from 'node:crypto'\nexport const x = dice(4)",
    "import { scheduler } from 'node:timers/promises'\nexport const x = scheduler.wait(5)"
  ]
  const core = ['protocol/bundle/x.ts', 'project-server/x.ts', 'node/agent/x.ts', 'client-cli/commands/x.ts']
  const free = ['protocol/peer/live/x.ts', 'node/live/x.ts', 'client-cli/live/x.ts', 'node/x.test.ts', 'test/x.ts']
  for (const source of bad)
    it(source.replace('\n', '; '), () => {
      const found = faultsIn([...core, ...free], source)
      for (const [index, rules] of found.entries())
        if (index < core.length) assert.deepEqual([...new Set(rules)], ['plugin'], core[index])
        else assert.deepEqual(rules, [])
    })

  it('leaves times that are given alone', () => {
    assert.deepEqual(faults('node/x.ts', 'export const x = (nowMs: number): string => new Date(nowMs).toISOString()'), [])
  })
})

describe('the language', () => {
  it('refuses any', () => assert.deepEqual(faults('node/x.ts', 'export const x = (y: any): string => String(y)'), ['lint/suspicious/noExplicitAny']))
  it('refuses default exports', () => assert.deepEqual(faults('node/x.ts', 'export default 1'), ['lint/style/noDefaultExport']))
  it('refuses @ts-ignore', () => assert.deepEqual(faults('node/x.ts', '// @ts-ignore\nexport const x: string = 1'), ['lint/suspicious/noTsIgnore']))

  it('nowhere silences the linter or the compiler, and leaves nothing for later', () => {
    const sources = globSync('{protocol,project-server,node,relay,client-cli,sim,test,scripts}/**/*.{ts,js,mjs}', { cwd: root })
    assert.ok(sources.length > 100)
    const marks = new RegExp(['biome', '-ignore|@ts', '-(?:ignore|expect-error|nocheck)|\\b(?:TO', 'DO|FIX', 'ME)\\b'].join(''))
    const marked = sources.filter((path) => path !== 'scripts/lint.test.ts' && marks.test(readFileSync(join(root, path), 'utf8')))
    assert.deepEqual(marked, [])
  })
})
