/**
 * `npm run build`: the publishable package in `dist/`, then a proof that it is one: it is packed, installed into an empty
 * folder, and the installed `talko` and client library are run there.
 */
import { spawnSync } from 'node:child_process'
import { chmodSync, copyFileSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'
import { commitOf } from '../sim/commit.ts'

const root = resolve(import.meta.dirname, '..')
const dist = join(root, 'dist')
const FOLDERS = ['protocol', 'project-server', 'node', 'relay', 'client-cli', 'sim']
const PAPERS = ['README.md', 'LICENSE', 'CHANGELOG.md']
const LIBRARY = './client-cli/index'

interface Package {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly engines: Record<string, string>
  readonly bin: Record<string, string>
  readonly imports: Record<string, string>
  readonly dependencies: Record<string, string>
}

/** Programs find this folder's own Node 24 first, as in an npm script. */
const env = { ...process.env, PATH: `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}` }

/** What a program prints. Throws with it when the program fails. */
function run(command: string, args: readonly string[], cwd: string): string {
  const { status, stdout, error } = spawnSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })
  if (error !== undefined) throw error
  if (status !== 0) throw new Error(`${command} ${args[0] ?? ''} ended with ${status}:\n${stdout}`)
  return stdout
}

/** What the compiler does not write: generated code, the command itself, profiles. */
function copyRest(): void {
  const rest = globSync(
    FOLDERS.map((folder) => `${folder}/**/*.*`),
    { cwd: root, exclude: (path) => /(?:(?<!\.d)\.ts|\.md|\.proto)$/.test(path) }
  )
  for (const path of rest) {
    const target = join(dist, path)
    mkdirSync(dirname(target), { recursive: true })
    if (path.endsWith('.js')) {
      const source = readFileSync(join(root, path), 'utf8')
      writeFileSync(target, source.replaceAll(/(\bfrom |\bimport\(?)'(\.[^']*)\.ts'/g, "$1'$2.js'"))
      if (source.startsWith('#!')) chmodSync(target, 0o755)
    } else copyFileSync(join(root, path), target)
  }
  for (const path of PAPERS) copyFileSync(join(root, path), join(dist, path))
}

function writePackage(): Package {
  const source = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Package
  const { name, version, description, license, engines, bin, dependencies } = source
  const imports = Object.fromEntries(
    Object.entries(source.imports)
      .filter(([key]) => FOLDERS.some((folder) => key === `#${folder}/*`))
      .map(([key, path]) => [key, path.replace(/\.ts$/, '.js')])
  )
  const published = {
    name,
    version,
    description,
    license,
    type: 'module',
    // What reports of the simulator name as their commit.
    gitHead: commitOf(),
    engines,
    bin,
    imports,
    exports: { '.': { types: `${LIBRARY}.d.ts`, default: `${LIBRARY}.js` }, './package.json': './package.json' },
    dependencies
  }
  writeFileSync(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
  return source
}

/** A project server and a node of the installed package run a task. */
function checkTask(talko: string, folder: string): void {
  const home = ['--home', join(folder, 'home')]
  try {
    run(talko, ['up', ...home, '--nodes', '1', '--engine', 'process'], folder)
    writeFileSync(join(folder, 'greeting'), 'hello\n')
    const task = ['--input', 'greeting=./greeting', '--', 'sh', '-c', 'cat $TALKO_IN/greeting']
    const answer = run(talko, ['run', ...home, '--engine', 'process', '--quorum', '1', '--follow', ...task], folder)
    if (!answer.includes('hello')) throw new Error(`the installed talko ran a task whose output was not shown: ${answer}`)
  } finally {
    run(talko, ['down', ...home], folder)
  }
}

/** A scenario that comes with the package runs, and its report can be repeated. */
function checkSimulation(talko: string, folder: string): void {
  run(talko, ['sim', 'run', 'liars', '--hosts', '50', '--set', 'length=4 h', '--json', 'report.json'], folder)
  run(talko, ['sim', 'replay', 'report.json'], folder)
}

/** The program that the README shows compiles against the installed library. */
function checkReadmeProgram(folder: string): void {
  const program = /```ts\n([\s\S]*?)```/.exec(readFileSync(join(root, 'README.md'), 'utf8'))?.[1]
  if (program === undefined) throw new Error('README.md shows no program')
  writeFileSync(join(folder, 'program.ts'), program)
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules', '@types')]
  run('tsc', ['--ignoreConfig', '--noEmit', '--strict', '--target', 'es2024', '--module', 'nodenext', '--skipLibCheck', ...types, 'program.ts'], folder)
}

function check({ name, version }: Package): void {
  const folder = mkdtempSync(join(tmpdir(), 'talko-build-'))
  try {
    const [packed] = JSON.parse(run('npm', ['pack', '--json', '--loglevel=error', '--pack-destination', folder], dist)) as { filename: string }[]
    if (packed === undefined) throw new Error('npm pack made no package')
    writeFileSync(join(folder, 'package.json'), '{"private":true,"type":"module"}\n')
    run('npm', ['install', '--no-audit', '--no-fund', '--loglevel=error', join(folder, packed.filename)], folder)
    const talko = join(folder, 'node_modules', '.bin', name)
    const printed = run(talko, ['--version'], folder).trim()
    if (printed !== version) throw new Error(`the installed ${name} --version printed ${JSON.stringify(printed)}, not ${version}`)
    const help = run(talko, ['--help'], folder)
    if (!help.includes(`Usage: ${name}`)) throw new Error(`the installed ${name} --help printed no usage:\n${help}`)
    run('node', ['-e', `import('${name}').then((library) => { if (Object.keys(library).length === 0) process.exit(1) })`], folder)
    checkSimulation(talko, folder)
    checkReadmeProgram(folder)
    checkTask(talko, folder)
    console.log(
      `${packed.filename}: installs into an empty folder; ${name} ${printed} runs, its library loads, a scenario runs, and its server and node run a task`
    )
  } finally {
    rmSync(folder, { recursive: true })
  }
}

rmSync(dist, { recursive: true, force: true })
run('tsc', ['--project', 'tsconfig.build.json'], root)
copyRest()
check(writePackage())
