import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, it } from 'node:test'
import Docker from 'dockerode'
import type { Client } from '#client-cli/index'
import { containerPrefix } from '#node/sandbox/options'
import type { TaskPolicy } from '#protocol/bundle/policy'
import type { TaskView } from '#protocol/owner/messages'
import { checkReceipt } from '#protocol/result/receipt'
import { makeBusyboxRoot } from '../support/busybox-image.ts'
import { skipWithoutDocker } from '../support/docker.ts'
import { type TestNetwork, testNetwork } from '../support/network.ts'
import { assertRefused } from '../support/talko.ts'
import { until } from '../support/until.ts'

const skip = await skipWithoutDocker()

/** Whole numbers agree. What it cannot read it calls different: else a liar could break it. */
const WHOLE = 'cut -d. -f1 /in/a/result > /tmp/a || exit 1; cut -d. -f1 /in/b/result > /tmp/b || exit 1; cmp -s /tmp/a /tmp/b'

describe('results compared by a program of their owner', { skip, timeout: 240_000 }, () => {
  let network: TestNetwork
  let client: Client
  let image: string
  before(async () => {
    network = await testNetwork()
    for (const name of ['ann', 'bob', 'cid']) await network.nodeProcess(name)
    client = await network.client()
    const root = join(network.dir, 'busybox')
    await makeBusyboxRoot(root)
    image = (await client.importImage(root, { name: 'busybox' })).root
    await until('the nodes', async () => (await client.nodes()).length === 3)
  })
  after(() => network?.close())

  /** Of honest nodes the last digits depend on the machine, and they wait for a word; cid says at once what is wrong. */
  const noisy = (go: string): string =>
    `case $PWD in */cid/*) x=99.5;; *) until [ -e ${join(network.dir, go)} ]; do sleep 0.1; done; case $PWD in */ann/*) x=12.00000001;; *) x=12.00000002;; esac;; esac; echo "energy $x" > result`
  const submit = async (bundle: string, go: string, policy: Partial<TaskPolicy> = {}): Promise<string> => {
    const manifests = await client.prepare([{ command: ['sh', '-c', noisy(go)], engine: 'process' }])
    return (await client.submit(manifests, { policy: { targetResults: 3, compare: { kind: 'program', bundle }, ...policy } })).id
  }
  const comparator = (script: string): Promise<string> => client.comparator({ image, command: ['sh', '-c', script] })
  const letGo = (go: string): Promise<void> => writeFile(join(network.dir, go), '')
  const verdicts = async ({ replicas = [] }: TaskView): Promise<Record<string, string | undefined>> => {
    const names = new Map((await client.nodes()).map(({ id, name }) => [id, name]))
    return Object.fromEntries(replicas.map(({ node, verdict }) => [names.get(node) ?? '', verdict]))
  }
  const running = () => new Docker().listContainers({ filters: { name: [containerPrefix(network.project)] } })

  it('agree although their bytes differ; a liar loses; why, events and receipt say by which program', async () => {
    const bundle = await comparator(WHOLE)
    const batch = await submit(bundle, 'go-1')
    await until('the liar has spoken', async () => (await client.task(`${batch}.0`)).replicas?.some(({ state }) => state === 'reported') === true)
    await letGo('go-1')
    assert.equal((await client.wait(batch)).ready, 1)
    const task = await client.task(`${batch}.0`)
    assert.deepEqual(await verdicts(task), { ann: 'valid', bob: 'valid', cid: 'invalid' })
    assert.equal(task.agreeing, 2)
    const { ok, lines } = checkReceipt(await client.receipt(`${batch}.0`), { project: network.project })
    assert.ok(ok && lines.some((line) => line.includes(`found to agree by its owner's program ${bundle}`)), lines.join('\n'))
    const { out } = await network.owner('events', batch)
    assert.match(out, new RegExp(`compared.*program ${bundle}`), out)
    assert.deepEqual(await running(), [])
    // What each node leaves once more, beside what was agreed on: this is what talko verify does.
    const manifests = await client.prepare([{ command: ['sh', '-c', noisy('go-1')], engine: 'process' }])
    const again = await Promise.all(
      (await client.nodes()).map(async ({ id, name }) => {
        const run = await client.submit(manifests, { policy: { minQuorum: 1, nodes: [id], force: true } })
        await client.wait(run.id)
        return [name, await client.difference(`${batch}.0`, `${run.id}.0`)] as const
      })
    )
    const said = (name: string): unknown => again.find(([node]) => node === name)?.[1].program
    assert.deepEqual(said('cid'), { bundle, agree: false })
    // One of the two is the agreed output itself: equal outputs are not asked about.
    const honest = [said('ann'), said('bob')]
    assert.deepEqual(honest[0] === undefined ? honest : honest.reverse(), [undefined, { bundle, agree: true }])
  })

  it('a program that is at fault holds its batch and blames no node, before and after a crash of the project; mended, all goes on', async () => {
    const bundle = await comparator('echo cannot parse >&2; exit 3')
    const batch = await submit(bundle, 'go-2', { targetResults: 2 })
    await letGo('go-2')
    await until('it is held', async () => (await client.why(batch)).held !== undefined)
    const why = await client.why(batch)
    assert.match(why.held?.reason ?? '', /program that compares its results is at fault.*exit status 3.*cannot parse/)
    assert.deepEqual([why.waitsFor, why.comparing], ['release', { kind: 'program', bundle }])
    await network.crashServer()
    await until('the nodes are back', async () => (await client.nodes()).filter(({ state }) => state === 'online').length === 3)
    assert.equal((await client.why(batch)).waitsFor, 'release')
    await client.release(batch)
    await until('it is held again', async () => (await client.why(batch)).held !== undefined)
    await client.kill(batch)
    assert.deepEqual(new Set(Object.values(await verdicts(await client.task(`${batch}.0`)))), new Set([undefined]))
    assert.ok((await client.nodes()).every(({ errors, lost }) => errors + lost === 0))
  })

  it('a comparison that a crash of the project cut off is made again, and nothing of the first is left running', async () => {
    const bundle = await comparator(`sleep 3; ${WHOLE}`)
    const batch = await submit(bundle, 'go-3')
    await letGo('go-3')
    await until('the program runs', async () => (await running()).length > 0)
    await network.crashServer()
    assert.equal((await client.wait(batch)).ready, 1)
    const { ann, bob } = await verdicts(await client.task(`${batch}.0`))
    assert.deepEqual([ann, bob], ['valid', 'valid'])
    assert.deepEqual(await running(), [])
  })

  it('one that the project cannot run is refused when it is submitted, and told why', async () => {
    const refused = async (bundle: string, words: RegExp): Promise<void> =>
      assert.rejects(submit(bundle, 'go-4'), { code: /^(refused|usage|not_found)$/, message: words })
    const [manifest = new Uint8Array()] = await client.prepare([{ image, command: ['true'] }])
    const { manifestCidText } = await import('#protocol/bundle/manifest')
    await refused(manifestCidText(manifest), /does not hold the comparator/)
    await refused(image, /it is no bundle/)
    await refused(await client.comparator({ engine: 'process', command: ['true'] }), /needs the engine process, and this project runs programs by docker/)
    await assert.rejects(client.comparator({ image, command: ['true'], inputs: { a: { root: image } } }), /has the name of what it compares/)
    await assert.rejects(client.comparator({ image, command: ['true'], resources: { timeMs: 3_600_000 } }), /600 s at most/)
    assert.match((await network.owner('info')).out, /programs .*run by docker on linux\//)
  })

  it('a file of YAML says what compares: talko run --compare-program', async () => {
    const file = join(network.dir, 'compare.yaml')
    const words = join(network.dir, 'cmp.sh')
    await writeFile(words, WHOLE)
    await writeFile(file, `image: busybox\ncommand: [sh, /in/words]\ninput: { words: ${words} }\ntime: 30s\n`)
    await letGo('go-5')
    const run = ['run', '--engine', 'process', '--force', '-W', '--compare-program']
    const { status, out, err } = await network.owner(...run, file, '--', 'sh', '-c', noisy('go-5'))
    assert.equal(status, 0, err)
    assert.match((await network.owner('receipt', 'check', out.split('\n')[0] ?? '')).out, /\nok\n$/)
    assertRefused(await network.owner(...run, join(network.dir, 'none.yaml'), '--', 'true'), 3, /cannot be read/)
    assertRefused(await network.owner(...run, file, '--compare', 'rel=1e-6', '--', 'true'), 2, /choose one/)
  })
})
