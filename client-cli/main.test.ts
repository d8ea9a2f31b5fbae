import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import { generateIdentity } from '#protocol/signing/keys'
import { freePort } from '#test/support/ports'
import { formatInvite } from './client/invite.ts'
import { ClientError, EXIT, explain } from './errors.ts'
import { systemClock } from './live/clock.ts'
import { main } from './main.ts'

let home = ''
before(async () => {
  home = await mkdtemp(join(tmpdir(), 'talko-cli-'))
})
after(() => rm(home, { recursive: true }))

/** One command line in this process. */
async function talko(...argv: readonly string[]): Promise<{ status: number; out: string; err: string }> {
  let out = ''
  let err = ''
  const status = await main(argv, {
    clock: systemClock,
    version: '1.2.3',
    onInterrupt: () => () => {},
    io: {
      stdout: (text) => {
        out += typeof text === 'string' ? text : Buffer.from(text).toString()
      },
      stderr: (text) => {
        err += text
      },
      terminal: false,
      colour: false,
      columns: () => 100,
      nowMs: () => Date.now()
    }
  })
  return { status, out, err }
}

const VERBS = [
  'up',
  'down',
  'init',
  'serve',
  'invite',
  'use',
  'upload',
  'run',
  'map',
  'sweep',
  'ps',
  'info',
  'why',
  'logs',
  'ls',
  'cat',
  'tail',
  'write',
  'get',
  'kill',
  'hold',
  'release',
  'retry',
  'label',
  'nodes',
  'verify',
  'events',
  'quota'
]
const SUBVERBS = [
  ...['join', 'start', 'status', 'doctor', 'pause', 'resume', 'stop'].map((verb) => ['node', verb]),
  ...['init', 'start', 'status', 'stop'].map((verb) => ['relay', verb]),
  ...['import', 'list'].map((verb) => ['image', verb]),
  ...['submit', 'rescue'].map((verb) => ['dag', verb]),
  ...['list', 'add', 'set', 'remove'].map((verb) => ['owner', verb]),
  ...['show', 'check', 'save'].map((verb) => ['receipt', verb]),
  ...['list', 'run', 'replay', 'compare', 'sweep'].map((verb) => ['sim', verb])
]
const MUTATING = [
  ['up'],
  ['down'],
  ['init'],
  ['serve'],
  ['use'],
  ['upload'],
  ['run'],
  ['map'],
  ['sweep'],
  ['dag', 'submit'],
  ['kill'],
  ['hold'],
  ['release'],
  ['retry'],
  ['label'],
  ['get'],
  ['write'],
  ['image', 'import'],
  ['relay', 'init'],
  ['relay', 'start'],
  ['relay', 'stop'],
  ['node', 'join'],
  ['node', 'start'],
  ['node', 'pause'],
  ['node', 'resume'],
  ['node', 'stop'],
  ['receipt', 'save'],
  ['owner', 'add'],
  ['owner', 'set'],
  ['owner', 'remove'],
  ...['run', 'replay', 'compare', 'sweep'].map((verb) => ['sim', verb])
]

describe('the command line', () => {
  it('lists every verb, and every verb has help with examples, -o and --timeout', async () => {
    const all = await talko('--help')
    assert.equal(all.status, EXIT.ok)
    for (const verb of [...VERBS, 'node', 'image', 'dag', 'owner', 'receipt', 'sim']) assert.match(all.out, new RegExp(`^  ${verb} `, 'm'))
    for (const words of [...VERBS.map((verb) => [verb]), ...SUBVERBS]) {
      const { status, out } = await talko(...words, '--help')
      assert.equal(status, EXIT.ok, words.join(' '))
      assert.match(out, /\nExamples:\n {2}talko /, words.join(' '))
      assert.match(out, /-o, --output <format>/, words.join(' '))
      assert.match(out, /--timeout <time>/, words.join(' '))
    }
  })

  it('can say beforehand what any mutating verb would do', async () => {
    for (const words of MUTATING) assert.match((await talko(...words, '--help')).out, /--dry-run/, words.join(' '))
  })

  it('prints its version', async () => {
    assert.deepEqual(await talko('--version'), { status: EXIT.ok, out: '1.2.3\n', err: '' })
  })

  const usage: readonly (readonly [words: readonly string[], says: RegExp])[] = [
    [['frobnicate'], /unknown command 'frobnicate'/],
    [['run', '--bogus'], /unknown option '--bogus'; see talko run --help/],
    [['get'], /missing required argument 'id'; see talko get --help/],
    [['ps', '-o', 'xml'], /-o is text or json/],
    [['ps', '--timeout', 'soon'], /--timeout is a time like 90s/],
    [['ps', '--limit', '0'], /--limit is a whole number/],
    [['why', 'k3vq', 'q5rn'], /too many arguments for 'why'\. Expected 1 argument but got 2; see talko why --help/],
    [['kill'], /which\? give ids, or select/],
    [['kill', 'k3vq', '-l', 'a=b'], /which\? give ids, or select/],
    [['kill', '-l', 'a'], /-l is NAME=VALUE/],
    [['retry', '--state', 'sad'], /--state is one of waiting, running, held/],
    [['label', 'k3vq', 'a b=1'], /is not a label: key=value/],
    [['label', 'k3vq'], /which labels\?/],
    [['label', 'stage=draft'], /which\? give ids, or select/],
    [['run'], /which image and command\?/],
    [['run', 'alpine'], /which command\?/],
    [['run', '--engine', 'process'], /which command\?/],
    [['run', '--engine', 'qemu', 'x', '--', 'y'], /--engine is docker or process/],
    [['run', 'alpine', '--memory', 'lots', '--', 'x'], /--memory is an amount like 512M/],
    [['run', 'alpine', '-i', 'data', '--', 'x'], /-i is NAME=VALUE/],
    [['run', 'alpine', '-f', '--count', '2', '--', 'x'], /-f follows one task/],
    [['run', 'alpine', '--self-test', '--dep', 'n=k3vq', '--', 'x'], /waits for no task: leave --dep out/],
    [['run', 'alpine', '--self-test', '--count', '3', '--', 'x'], /leave --count out/],
    [['run', 'alpine', '--self-test', '--compare', 'rel=1e-6', '--', 'x'], /leave --compare out/],
    [['map', 'in', '--', 'x'], /how is it split\? --split/],
    [['map', 'in', '--split', 'bytes=3', '--', 'x'], /--split is lines=N or parts=N/],
    [['sweep', 'a', '--', 'x'], /which values\? like: --set/],
    [['sweep', '--engine', 'process', '--set', 'x=3:1:1', '--', 'x'], /the step does not lead from 3 to 1/],
    [['map', '--split', 'parts=3'], /which input and command\?/],
    [['map', 'in', '--split', 'parts=3', '--', 'x'], /which image\?/],
    [['map', 'in', '--split', 'parts=3', '--engine', 'process', '-i', 'part=y', '--', 'x'], /-i part is taken/],
    [['up', '--nodes', 'many'], /--nodes is a whole number/],
    [['up', '--engine', 'x'], /--engine is docker, process or both/],
    [['use', 'nonsense'], /not an invite/],
    [['invite', '--project', 'talko://x'], /not an invite/],
    [['tail', '-n', '0', 'k3vq'], /--lines takes a number of lines from 1 to/],
    [['serve', '--clean'], /add --yes/],
    [['ps'], /which project\?/]
  ]
  for (const [words, says] of usage) {
    it(`answers a usage error with one line and status 2: ${words.join(' ')}`, async () => {
      const { status, out, err } = await talko(...words.slice(0, 1), '--home', home, ...words.slice(1))
      assert.equal(status, EXIT.usage, err)
      assert.match(err, says)
      assert.equal(err.trimEnd().split('\n').length, 1)
      assert.match(err, /^talko: /)
      assert.equal(out, '')
    })
  }

  it('shows a group of verbs that is named alone', async () => {
    for (const group of ['node', 'image', 'dag', 'owner', 'receipt', 'sim']) {
      const { status, out, err } = await talko(group)
      assert.equal(status, EXIT.usage, group)
      assert.equal(out, '', group)
      assert.match(err, new RegExp(`^Usage: talko ${group} `), group)
    }
    assert.match((await talko('dag', 'submit', '--bogus')).err, /unknown option '--bogus'; see talko dag submit --help/)
  })

  it('says that nobody is there with status 6', async () => {
    const { peerId } = await generateIdentity()
    const project = formatInvite({ project: peerId, addresses: [`/ip4/127.0.0.1/tcp/${await freePort()}`], bootstrap: [] })
    const { status, err } = await talko('ps', '--home', home, '--project', project)
    assert.equal(status, EXIT.unreachable, err)
    assert.match(err, /^talko: cannot reach .*is its server running/)
    assert.equal((await talko('node', 'status', join(home, 'no-node'))).status, EXIT.unreachable)
  })

  it('gives up with status 124', async () => {
    const { peerId } = await generateIdentity()
    const net = await import('node:net')
    const silent = net.createServer(() => {}).listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    try {
      const address = silent.address()
      const port = typeof address === 'object' && address !== null ? address.port : 0
      const project = formatInvite({ project: peerId, addresses: [`/ip4/127.0.0.1/tcp/${port}`], bootstrap: [] })
      const { status, err } = await talko('ps', '--home', home, '--project', project, '--timeout', '300ms')
      assert.equal(status, EXIT.timeout, err)
    } finally {
      silent.close()
    }
  })

  it('says what is not there with status 3, and what is no receipt with status 4', async () => {
    assert.equal((await talko('serve', join(home, 'nothing'), '--home', home)).status, EXIT.notFound)
    assert.equal((await talko('node', 'start', join(home, 'nothing'))).status, EXIT.notFound)
    assert.equal((await talko('receipt', 'check', join(home, 'no.receipt'))).status, EXIT.notFound)
    const path = join(home, 'bad.receipt')
    await writeFile(path, 'not a receipt')
    const { status, err } = await talko('receipt', 'check', path)
    assert.equal(status, EXIT.refused)
    assert.match(err, /is not a receipt; `talko receipt save TASK` writes one/)
  })

  it('makes a project and a node, and prints ids on stdout and talk on stderr', async () => {
    const dir = join(home, 'project')
    const made = await talko('init', dir, '--name', 'tests', '--home', home)
    assert.equal(made.status, EXIT.ok, made.err)
    assert.match(made.out, /^12D3Koo\w+\n$/)
    const again = await talko('init', dir, '--home', home)
    assert.equal(again.status, EXIT.refused, again.err)
    const invite = formatInvite({ project: made.out.trim(), addresses: ['/ip4/127.0.0.1/tcp/1'], bootstrap: [] })
    const node = await talko('node', 'join', invite, join(home, 'node'), '--name', 'n', '--slots', '2', '-o', 'json')
    assert.equal(node.status, EXIT.ok, node.err)
    assert.deepEqual(
      { ...JSON.parse(node.out), id: '', dir: '' },
      {
        id: '',
        dir: '',
        project: made.out.trim(),
        addresses: ['/ip4/127.0.0.1/tcp/1'],
        bootstrap: [],
        name: 'n',
        slots: 2,
        engines: ['docker'],
        listen: ['/ip4/0.0.0.0/tcp/0']
      }
    )
    const chosen = await talko('use', invite, '--home', home)
    assert.equal(chosen.out, made.out)
  })
})

describe('errors', () => {
  it('end with the status of what they mean, in one line', () => {
    const named = (name: string, code: string) => Object.assign(new Error('a\nb'), { name, code })
    const cases: readonly (readonly [Error, number])[] = [
      [new ClientError('usage', 'x'), EXIT.usage],
      [new ClientError('ambiguous', 'x'), EXIT.usage],
      [new ClientError('not_found', 'x'), EXIT.notFound],
      [new ClientError('refused', 'x'), EXIT.refused],
      [new ClientError('no_agreement', 'x'), EXIT.noAgreement],
      [new ClientError('task_failed', 'x'), EXIT.taskFailed],
      [new ClientError('unreachable', 'x'), EXIT.unreachable],
      [new ClientError('timeout', 'x'), EXIT.timeout],
      [named('HostError', 'unreachable'), EXIT.unreachable],
      [named('HostError', 'wrong_peer'), EXIT.refused],
      [named('HostError', 'bad_address'), EXIT.usage],
      [named('ContentError', 'not_found'), EXIT.notFound],
      [named('ContentError', 'special_file'), EXIT.refused],
      [named('ContentError', 'disk_full'), EXIT.refused],
      [named('ManifestError', 'manifest_malformed'), EXIT.usage],
      [named('ImageError', 'unknown_image'), EXIT.notFound],
      [named('ServerError', 'locked'), EXIT.refused],
      [named('ServerError', 'port_in_use'), EXIT.refused],
      [named('NodeError', 'not_a_node_folder'), EXIT.notFound],
      [named('Error', 'ENOENT'), EXIT.notFound],
      [named('Error', 'ENOSPC'), EXIT.refused]
    ]
    for (const [error, exit] of cases) {
      const said = explain(error)
      assert.equal(said.exit, exit, `${error.name} ${'code' in error ? error.code : ''}`)
      assert.equal(said.stack, undefined)
      assert.ok(!said.message.includes('\n'))
    }
  })
  it('show a stack only for a bug', () => {
    assert.match(explain(new TypeError('x')).stack ?? '', /TypeError: x/)
    assert.equal(explain(new TypeError('x')).exit, EXIT.bug)
  })
})
