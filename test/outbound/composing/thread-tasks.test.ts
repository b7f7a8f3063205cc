/** Previews and other work that people wait for, in fake threads. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { AppError } from '../../../src/base/errors.ts'
import { silentLog } from '../../../src/base/log.ts'
import type { RenderSource } from '../../../src/formats/compose/build-message.ts'
import { createPreviews } from '../../../src/outbound/composing/previews.ts'
import { createThreadTasks } from '../../../src/outbound/composing/thread-tasks.ts'
import type { Preview } from '../../../src/outbound/protocol.ts'
import { runFor } from '../../../src/turns/owner.ts'
import { RENDERING_LIMITS } from '../../../src/turns/rendering.ts'
import { fakeClient } from '../../turns/fake-client.ts'
import { createFakeThreads, type FakeThread } from '../fake-threads.ts'

function open(t: TestContext) {
  const fakes = createFakeThreads()
  const { createThreads, started } = fakes
  const tasks = createThreadTasks({
    ...{ settings: {} as never, log: silentLog(), hangMs: 1_000, restMs: 1_000 },
    createThreads,
    clock: () => 0,
  })
  t.after(() => tasks.stop())
  const previews = createPreviews(tasks)
  const preview = (key: string, names: string[], client = fakeClient()) =>
    runFor({ key, isJob: false, client }, () => previews.preview(names.map(source)))
  /** Subjects of what each thread was asked, in order. */
  const asked = () => started.map((thread) => subjectsOf(thread))
  const answer = async (thread: FakeThread | undefined) => {
    const last = thread?.posted.at(-1)
    assert.ok(thread !== undefined && last?.type === 'preview')
    const messages = last.sources.map(({ content }) => ({ subject: content.subject }))
    thread.say({ type: 'previewed', task: last.task, messages: messages as unknown as Preview[] })
    await othersTurn()
  }
  return { ...fakes, tasks, preview, asked, answer }
}

function source(subject: string): RenderSource {
  const content = { id: subject, subject, body: '', isText: false, text: null, attachments: [] }
  return { content } as unknown as RenderSource
}

function subjectsOf({ posted }: FakeThread): string[] {
  return posted.flatMap((message) =>
    message.type === 'preview'
      ? `${message.sources.map(({ content }) => content.subject).join(' ')}${message.sources[0]?.isPlain === true ? ' plain' : ''}`
      : [],
  )
}

const subjects = (shown: readonly ({ subject: string } | null)[]) =>
  shown.map((each) => each?.subject ?? null)

test('S31: abandoned previews of one project leave a thread to another, whose preview begins at once', async (t) => {
  const { preview, asked, answer, started, tasks } = open(t)
  const clients = Array.from({ length: 25 }, () => fakeClient())
  const outcomes = clients.map((client, index) =>
    preview('a', [`a${index}`], client).catch((error: unknown) => error),
  )
  await othersTurn()
  assert.equal(tasks.waiting(), 10)
  for (const client of clients) client.leave()
  assert.equal(tasks.waiting(), 0)
  const other = preview('b', ['b'])
  assert.deepEqual(asked(), [['a0'], ['b']])
  await answer(started[1])
  assert.deepEqual(subjects(await other), ['b'])
  const again = preview('a', ['again'])
  assert.deepEqual(asked(), [['a0'], ['b']], 'what runs counts as the turn of its project')
  await answer(started[0])
  await answer(started[0])
  assert.deepEqual(asked(), [['a0', 'again'], ['b']])
  assert.deepEqual(subjects(await again), ['again'])
  const codes = (await Promise.all(outcomes)).map((each) => (each as Partial<AppError>).code)
  assert.deepEqual(
    [codes[0], new Set(codes.slice(1, 11)), new Set(codes.slice(11))],
    [undefined, new Set(['REQUEST_TIMEOUT']), new Set(['RATE_LIMIT_EXCEEDED'])],
  )
})

test('beyond 100 waiting requests of all projects, everybody is told to come back', async (t) => {
  const { preview, tasks } = open(t)
  const outcomes = Array.from({ length: 13 * 9 }, (_, index) =>
    preview(`p${index % 13}`, [`${index}`]).catch((error: unknown) => error),
  )
  await othersTurn()
  assert.equal(tasks.waiting(), RENDERING_LIMITS.waiting)
  const refused = await preview('new', ['new']).catch((error: unknown) => error)
  assert.ok(refused instanceof AppError)
  assert.deepEqual([refused.status, refused.details?.retryAfter], [503, 2])
  await tasks.stop()
  await Promise.all(outcomes)
})

test('between the portions of a long page, others of its project have a turn', async (t) => {
  const { preview, asked, answer, started } = open(t)
  const names = Array.from({ length: 21 }, (_, index) => `n${index}`)
  const page = preview('a', names)
  const short = preview('a', ['short'])
  const [thread] = started
  for (let portion = 0; portion < 3; portion += 1) await answer(thread)
  assert.deepEqual(asked(), [[names.slice(0, 20).join(' '), 'short', 'n20']])
  assert.deepEqual(subjects(await page), names)
  assert.deepEqual(subjects(await short), ['short'])
})

test('sources at which a thread ends are rendered alone, then plainly, and then given up', async (t) => {
  const { preview, asked, answer, started } = open(t)
  const page = preview('a', ['good', 'bad'])
  started[0]?.end()
  await othersTurn()
  await answer(started[1])
  started[1]?.end()
  await othersTurn()
  started[2]?.end()
  await othersTurn()
  assert.deepEqual(asked(), [['good bad'], ['good', 'bad'], ['bad plain']])
  assert.deepEqual(subjects(await page), ['good', null])
})

test('sources that fail in a thread are rendered alone; a thread that never started is replaced', async (t) => {
  const { preview, answer, started, asked } = open(t)
  const page = preview('a', ['good', 'bad'])
  started[0]?.end({ hasStarted: false })
  const fail = async () => {
    const last = started[1]?.posted.at(-1)
    assert.ok(last?.type === 'preview')
    started[1]?.say({ type: 'preview failed', task: last.task, error: 'broken' })
    await othersTurn()
  }
  await fail()
  await answer(started[1])
  await fail()
  assert.deepEqual(asked(), [['good bad'], ['good bad', 'good', 'bad']])
  assert.deepEqual(subjects(await page), ['good', null])
})
