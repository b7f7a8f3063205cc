/** Checks of long templates, one at a time, in a thread that may end. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate as othersTurn } from 'node:timers/promises'
import { silentLog } from '../../../src/base/log.ts'
import { checkInThread } from '../../../src/outbound/composing/texts.ts'
import { createThreadTasks } from '../../../src/outbound/composing/thread-tasks.ts'
import type { ToThread } from '../../../src/outbound/protocol.ts'
import { createFakeThreads, type FakeThread } from '../fake-threads.ts'

const REST_MS = 1_000

function open(t: TestContext) {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const fakes = createFakeThreads()
  const { createThreads } = fakes
  const deps = { settings: {} as never, log: silentLog(), hangMs: 1_000, restMs: REST_MS }
  const tasks = createThreadTasks({ ...deps, createThreads })
  const checks = { check: (source: string) => checkInThread(tasks, source), stop: tasks.stop }
  t.after(() => checks.stop())
  return { checks, ...fakes }
}

type Asked = Extract<ToThread, { type: 'check' }>

const askedOf = ({ posted }: FakeThread) =>
  posted.filter((message): message is Asked => message.type === 'check')

/** The newest thread and its last message. */
function last(started: readonly FakeThread[]) {
  const thread = started.at(-1) as FakeThread
  return { thread, asked: askedOf(thread).at(-1) as Asked }
}

function answer(started: readonly FakeThread[], fault?: { message: string }): void {
  const { thread, asked } = last(started)
  const location = { line: 1, column: 1 }
  const said = fault === undefined ? undefined : { ...fault, ...location }
  thread.say({ type: 'checked', task: asked.task, fault: said })
}

test('templates are checked one at a time, in order of arrival', async (t) => {
  const { checks, started } = open(t)
  const first = checks.check('a')
  const second = checks.check('b')
  assert.deepEqual(
    started.flatMap(askedOf).map(({ source }) => source),
    ['a'],
  )
  answer(started)
  assert.equal(await first, undefined)
  await othersTurn()
  assert.deepEqual(
    started.flatMap(askedOf).map(({ source }) => source),
    ['a', 'b'],
  )
  answer(started, { message: 'no' })
  assert.deepEqual(await second, { message: 'no', line: 1, column: 1 })
  assert.equal(started.length, 1)
})

test('a template at which the thread ends counts as too heavy, and the next one is checked', async (t) => {
  const { checks, started } = open(t)
  const heavy = checks.check('heavy')
  const next = checks.check('next')
  last(started).thread.end()
  assert.equal(await heavy, 'too heavy')
  await othersTurn()
  answer(started)
  assert.equal(await next, undefined)
  assert.equal(started.length, 2)
})

test('a thread that ends before it has started is no fault of a template', async (t) => {
  const { checks, started } = open(t)
  const check = checks.check('a')
  last(started).thread.end({ hasStarted: false })
  answer(started)
  assert.equal(await check, undefined)
})

test('a template whose check fails by an internal error is neither valid nor faulty', async (t) => {
  const { checks, started } = open(t)
  const check = checks.check('a')
  const { thread, asked } = last(started)
  thread.say({ type: 'not checked', task: asked.task, error: 'broken' })
  await assert.rejects(check, /broken/)
})

test('the thread ends after a while without work', async (t) => {
  const { checks, started, rests } = open(t)
  const check = checks.check('a')
  t.mock.timers.tick(REST_MS)
  assert.equal(rests(), 0)
  answer(started)
  await check
  t.mock.timers.tick(REST_MS - 1)
  assert.equal(rests(), 0)
  t.mock.timers.tick(1)
  assert.equal(rests(), 1)
})

test('stop ends the running check and the waiting ones without a result', async (t) => {
  const { checks } = open(t)
  const all = [checks.check('a'), checks.check('b')].map((check) => assert.rejects(check))
  await checks.stop()
  await Promise.all(all)
})
