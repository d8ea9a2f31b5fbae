import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import type { Context } from '../command.ts'
import { ClientError } from '../errors.ts'
import { Io } from '../output/io.ts'
import { manageEach } from './manage.ts'

/** What is printed when it is done to these in turn, of which some fail: ids, talk, and the error that is thrown. */
async function printed(
  targets: readonly string[],
  fails: Readonly<Record<string, ClientError>>
): Promise<{ out: string; err: string; code: string; asked: string[] }> {
  let [out, err] = ['', '']
  const asked: string[] = []
  const io = new Io({
    stdout: (text) => {
      out += String(text)
    },
    stderr: (text) => {
      err += text
    },
    terminal: false,
    colour: false,
    columns: () => 100,
    nowMs: () => 0
  })
  const act = async (id: unknown) => {
    asked.push(String(id))
    const fault = fails[String(id)]
    if (fault !== undefined) throw fault
    return { targets: [{ id: String(id), kind: String(id).includes('.') ? ('task' as const) : ('batch' as const) }] }
  }
  const code = await manageEach({ io } as Context, targets, { act, options: {}, done: () => 'ended' }).then(
    () => 'ok',
    (error: unknown) => (error as ClientError).code
  )
  return { out, err, code, asked }
}

describe('what is done to several', () => {
  const gone = new ClientError('not_found', 'no b')

  it('is done to the others where one cannot be found, and each that cannot is told of', async () => {
    assert.deepEqual(await printed(['a', 'b', 'c.1'], { b: gone }), {
      out: 'a\nc.1\n',
      err: '2 tasks and batches: ended\n',
      code: 'not_found',
      asked: ['a', 'b', 'c.1']
    })
    const two = await printed(['a', 'b'], { a: gone, b: new ClientError('refused', 'b is over') })
    assert.deepEqual(two, { out: '', err: 'talko: b is over\n', code: 'not_found', asked: ['a', 'b'] })
  })

  it('ends where nobody answers any more, and tells what was done', async () => {
    const ended = await printed(['a.1', 'b', 'c'], { b: new ClientError('unreachable', 'gone') })
    assert.deepEqual(ended, { out: 'a.1\n', err: 'task a.1: ended\n', code: 'unreachable', asked: ['a.1', 'b'] })
  })
})
