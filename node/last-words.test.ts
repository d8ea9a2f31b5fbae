import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import fc from 'fast-check'
import { LAST_WORDS_CHARS_MAX } from '#protocol/control/messages'
import { lastWords, parseWord, type Word, wordOf } from './last-words.ts'
import { replicaOf } from './testing/samples.ts'

const A = replicaOf(0)
const B = replicaOf(1)
const HIDDEN = ['/home/ann lee/talko', '/home/ann lee', 'annsbox', 'ann']

function kept(message: string, facts: object = {}): string {
  return wordOf({ level: 'warn', facts, message, atMs: 0 }, HIDDEN).text
}

describe('what a node keeps of its log for others', () => {
  it('says what happened', () => {
    assert.equal(
      kept('an engine does not answer: taking no work until it does', { why: 'timeout' }),
      'an engine does not answer: taking no work until it does; why: timeout'
    )
  })

  it('names no file, machine, user, address or secret', () => {
    const cases = [
      'cannot open /home/ann lee/talko/run/x: EACCES',
      'lstat "/mnt/big disk/secret plan.txt"',
      String.raw`C:\Users\ann\x is gone`,
      'connect ECONNREFUSED 203.0.113.7:4600',
      'connect ECONNREFUSED fe80::1%eth0 and 2001:db8::7',
      'dial /dns4/annsbox/tcp/4600 failed',
      'pull registry.corp.internal failed for bob@corp',
      'login with password=hunter2 and more',
      'Authorization: Bearer hunter2',
      'bearer hunter2',
      'AWS secret: hunter2 x',
      '{"api_key": "hunter2"}',
      'key AKIAIOSFODNN7EXAMPLEAKIA was refused',
      'ghp_0123456789abcdefghijABCDEFGHIJ012345'
    ]
    const private_ = /hunter2|home|lee|\bann|plan|disk|Users|203|fe80|2001|tcp|corp|bob|AKIA|ghp_/
    for (const text of cases)
      for (const line of [kept(text), kept('x', { why: text }), kept('x', { error: new Error(text) })]) assert.doesNotMatch(line, private_, text)
  })

  it('never keeps a path or an address, whatever is around it', () => {
    const part = fc.stringMatching(/^[a-z0-9_.-]{1,12}$/)
    const path = fc.array(part, { minLength: 2, maxLength: 5 }).map((parts) => `/${parts.join('/')}`)
    const address = fc.ipV4().map(String)
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    fc.assert(
      fc.property(word, fc.oneof(path, address), word, fc.constantFrom('', "'", '"', '(', ' ', ': ', ',', '='), (before, private_, after, sign) => {
        assert.ok(!kept(`${before} ${sign}${private_}${sign} ${after}`).includes(private_))
      })
    )
  })

  it('is on one line and short, whatever is said', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 3000 }), (text) => {
        const line = kept(text, { why: text })
        assert.ok(line.length <= 240)
        assert.doesNotMatch(line, /[\p{Cc}\u2028\u2029]/u)
      })
    )
  })

  it('is read back as it was written, and what is torn is left out', () => {
    const word = wordOf({ level: 'info', facts: { replica: A, bytes: 7 }, message: 'it began', atMs: 5 }, [])
    assert.deepEqual(parseWord(JSON.stringify(word)), word)
    for (const torn of ['', '{', 'null', '7', '{"atMs":1e99,"level":"info","text":""}', '{"atMs":1,"level":"fatal","text":""}'])
      assert.equal(parseWord(torn), undefined)
  })
})

describe('the last words about a replica', () => {
  it('are those of the node and of that replica alone, the latest, in their order', () => {
    const words: Word[] = [
      { atMs: 0, level: 'info', text: 'the node has started' },
      { atMs: 1000, level: 'warn', text: 'trouble', replica: B },
      { atMs: 2000, level: 'error', text: 'no room', replica: A }
    ]
    assert.equal(lastWords(words, A), '1970-01-01T00:00:00.000Z info: the node has started\n1970-01-01T00:00:02.000Z error: no room (this run)')
  })

  it('have their bound', () => {
    const words = fc.array(fc.record({ atMs: fc.nat(), level: fc.constant('info' as const), text: fc.string({ maxLength: 240 }) }), { maxLength: 100 })
    fc.assert(
      fc.property(words, (all) => {
        const text = lastWords(all, A)
        assert.ok(text.length <= LAST_WORDS_CHARS_MAX)
        const last = all.at(-1)
        assert.ok(last === undefined || text.endsWith(last.text))
      })
    )
  })
})
