/** Markdown becomes HTML in a thread that may end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { convertInThread } from '../../../src/outbound/composing/texts.ts'
import { createThreadTasks } from '../../../src/outbound/composing/thread-tasks.ts'
import { createFakeThreads } from '../fake-threads.ts'

function open(t: TestContext) {
  const { createThreads, started } = createFakeThreads()
  const deps = { settings: {} as never, log: silentLog(), hangMs: 1_000, restMs: 1_000 }
  const tasks = createThreadTasks({ ...deps, createThreads })
  t.after(() => tasks.stop())
  const thread = () => started.at(-1) ?? assert.fail('no thread has started')
  const asked = () => thread().posted.findLast((message) => message.type === 'convert')
  return { convert: (source: string) => convertInThread(tasks, source), thread, asked }
}

test('a thread is given the text and answers with its HTML', async (t) => {
  const { convert, thread, asked } = open(t)
  const html = convert('# Hi')
  assert.equal(asked()?.source, '# Hi')
  thread().say({ type: 'converted', task: asked()?.task ?? 0, html: '<h1>Hi</h1>' })
  assert.equal(await html, '<h1>Hi</h1>')
})

test('a text at which the thread ends has no HTML, and an error is one', async (t) => {
  const { convert, thread, asked } = open(t)
  const heavy = convert('heavy')
  thread().end()
  assert.equal(await heavy, null)
  const failed = convert('failed')
  thread().say({ type: 'not converted', task: asked()?.task ?? 0, error: 'no' })
  await assert.rejects(failed, /no/)
})
