import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { silentLog } from '../../../../../src/base/log.ts'
import {
  type Dispatcher,
  startDispatcher,
} from '../../../../../src/features/outreach/webhooks/dispatch/dispatcher.ts'
import {
  type DispatchResult,
  nextWidth,
  type RequestTask,
  type TaskKey,
  type TaskSource,
} from '../../../../../src/features/outreach/webhooks/dispatch/tasks.ts'
import { pause } from '../../../../pause.ts'

type Row = RequestTask & { line: string; dueAt: number | null }
type Open = {
  row: Row
  signal: AbortSignal
  end(result: Partial<DispatchResult> | undefined): void
}

/** A source in memory. Its requests end when the test says so. */
function createSource(rows: Row[], projectOf = (line: string) => line) {
  const started: number[] = []
  const open: Open[] = []
  const recorded: number[] = []
  const taken: number[] = []
  let failures = 0
  const key = (line: string): TaskKey => ({ id: line, projectId: projectOf(line) })
  const source: TaskSource<Row, DispatchResult> = {
    name: 'test',
    async listKeys() {
      const lines = new Set(rows.flatMap(({ line, dueAt }) => (dueAt === null ? [] : line)))
      return [...lines].map((line) => ({ ...key(line), dueAt: 0 }))
    },
    async take({ id: line }, { taken: inFlight, limit, now }) {
      const own = rows.filter((row) => row.line === line && row.dueAt !== null)
      const due = own.filter(({ dueAt, number }) => (dueAt ?? 0) <= now && !inFlight.has(number))
      const later = own.flatMap(({ dueAt }) => (dueAt !== null && dueAt > now ? dueAt : []))
      taken.push(limit)
      const tasks = due.slice(0, limit)
      const next = later.length === 0 ? null : Math.min(...later)
      return { tasks, nextDueAt: due.length > tasks.length ? now : next }
    },
    attempt(row, signal) {
      started.push(row.number)
      const { promise, resolve } = Promise.withResolvers<DispatchResult | undefined>()
      const one: Open = {
        ...{ row, signal },
        end(result) {
          open.splice(open.indexOf(one), 1)
          const made = { number: row.number, dueAt: null, hasAnswered: true, ...result }
          resolve(result === undefined ? undefined : made)
        },
      }
      open.push(one)
      signal.addEventListener('abort', () => one.end(undefined))
      return promise
    },
    async record(results) {
      if (failures > 0) {
        failures -= 1
        throw new Error('the disk is full')
      }
      for (const { result } of results) {
        recorded.push(result.number)
        const row = rows.find(({ number }) => number === result.number)
        if (row !== undefined) row.dueAt = result.dueAt
      }
    },
  }
  return {
    ...{ source, started, open, recorded, taken, key },
    failNextRecord: () => {
      failures = 1
    },
  }
}

function start(
  t: TestContext,
  source: TaskSource<Row, DispatchResult>,
  now = () => 1_000,
): Dispatcher {
  const dispatcher = startDispatcher({ log: silentLog(), now }, source)
  t.after(() => dispatcher.stop(0))
  return dispatcher
}

const rowsOf = (line: string, count: number, first = 1): Row[] =>
  Array.from({ length: count }, (_, index) => ({
    number: first + index,
    ...{ bytes: 100, sentBytes: 100 },
    line,
    dueAt: 0,
  }))

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause()
}

/** Time for what must not happen. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await setImmediate()
}

test('the tasks of a line start in order, each once', async (t) => {
  const { source, started, open, recorded } = createSource(rowsOf('a', 200))
  start(t, source)
  while (recorded.length < 200) {
    // The newest ends first.
    open.at(-1)?.end({})
    await setImmediate()
  }
  assert.deepEqual(
    started,
    Array.from({ length: 200 }, (_, index) => index + 1),
  )
})

test('a line has at most 50 requests in flight, and reads only as many as it may soon start', async (t) => {
  const { source, open, recorded, taken } = createSource(rowsOf('a', 2_000))
  start(t, source)
  let most = 0
  while (recorded.length < 1_000) {
    most = Math.max(most, open.length)
    open[0]?.end({})
    await setImmediate()
  }
  assert.equal(most, 50)
  assert.ok(Math.max(...taken) <= 50)
})

test('a line whose requests end without an answer soon has one in flight', async (t) => {
  const { source, open, started } = createSource(rowsOf('a', 500))
  start(t, source)
  await until(() => open.length === 10)
  for (const { end } of open.splice(0)) end({ hasAnswered: false, dueAt: 9_999 })
  await until(() => open.length > 0)
  await turns()
  assert.equal(open.length, 1)
  assert.equal(started.length, 11)
})

test('a line that gets slower forgets most of what it has read, and reads it again', async (t) => {
  const rows = rowsOf('a', 60)
  const { source, open, started } = createSource(rows)
  start(t, source)
  await until(() => open.length === 10)
  for (const { end } of open.splice(0)) end({ hasAnswered: false, dueAt: 9_999 })
  await until(() => open.length > 0)
  // Of 20 tasks that were read, ten were started and two are kept.
  for (const row of rows) if (row.number > 12 && row.number < 50) row.dueAt = null
  while (started.length < 23) {
    open[0]?.end({ hasAnswered: false })
    await setImmediate()
  }
  const numbers = (first: number, last: number) =>
    Array.from({ length: last - first + 1 }, (_, index) => first + index)
  assert.deepEqual(started, [...numbers(1, 12), ...numbers(50, 60)])
})

test('the width of a line halves without an answer and grows with each, from 1 to 50', () => {
  assert.deepEqual(
    [nextWidth(10, true), nextWidth(50, true), nextWidth(10, false), nextWidth(1, false)],
    [11, 50, 5, 1],
  )
})

test('a line that hangs leaves the others alone', async (t) => {
  const rows = [...rowsOf('hangs', 500), ...rowsOf('works', 500, 1_000)]
  const { source, open, recorded } = createSource(rows, () => 'project')
  start(t, source)
  while (recorded.length < 500) {
    open.find(({ row }) => row.line === 'works')?.end({})
    await setImmediate()
  }
  assert.equal(open.filter(({ row }) => row.line === 'hangs').length, 10)
})

test('projects take turns: many lines of one do not hold up another', async (t) => {
  const many = Array.from({ length: 60 }, (_, line) => rowsOf(`big ${line}`, 20, line * 100 + 1))
  const rows = [...many.flat(), ...rowsOf('small', 5, 100_001)]
  const { source, open } = createSource(rows, (line) => line.split(' ')[0] ?? '')
  start(t, source)
  await until(() => open.some(({ row }) => row.line === 'small'))
  await turns()
  const ofBig = open.filter(({ row }) => row.line !== 'small')
  assert.equal(open.length - ofBig.length, 5)
  assert.ok(ofBig.length <= 300)
})

test('a task whose result could not be recorded is not started again meanwhile', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { source, open, recorded, started, failNextRecord } = createSource(rowsOf('a', 1))
  const dispatcher = startDispatcher({ log: silentLog(), now: () => 1_000 }, source)
  await until(() => open.length === 1)
  failNextRecord()
  open[0]?.end({})
  for (let turn = 0; turn < 10; turn += 1) {
    await turns()
    t.mock.timers.tick(500)
  }
  assert.deepEqual([started, recorded], [[1], [1]])
  t.mock.timers.reset()
  await dispatcher.stop(0)
})

test('a result that can never be recorded holds up no other', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const rows = ['a', 'b', 'c', 'd'].flatMap((line, at) => rowsOf(line, 1, at + 1))
  const { source, open, recorded } = createSource(rows)
  const { record } = source
  source.record = async (results) => {
    if (results.some(({ result }) => result.number === 2)) throw new RangeError('too deep')
    await record(results)
  }
  const dispatcher = startDispatcher({ log: silentLog(), now: () => 1_000 }, source)
  await until(() => open.length === 4)
  for (const { end } of [...open]) end({})
  for (let turn = 0; turn < 10; turn += 1) {
    await turns()
    t.mock.timers.tick(1_000)
  }
  assert.deepEqual(recorded.toSorted(), [1, 3, 4])
  t.mock.timers.reset()
  await dispatcher.stop(0)
})

test('an attempt that throws is made again, and the line goes on', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { source, open, started } = createSource(rowsOf('a', 2))
  const attempt = source.attempt
  let isBroken = true
  source.attempt = (row, signal) => {
    if (row.number === 1 && isBroken) {
      isBroken = false
      throw new Error('broken')
    }
    return attempt(row, signal)
  }
  let now = 1_000
  const dispatcher = startDispatcher({ log: silentLog(), now: () => now }, source)
  await until(() => started.length === 1)
  assert.deepEqual(started, [2])
  now += 2_000
  t.mock.timers.tick(2_000)
  await until(() => started.length === 2)
  assert.deepEqual(started, [2, 1])
  for (const { end } of [...open]) end({})
  t.mock.timers.reset()
  await dispatcher.stop(0)
})

test('a task is started again when its due time has come', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { source, open, started } = createSource(rowsOf('a', 1))
  let now = 1_000
  const dispatcher = startDispatcher({ log: silentLog(), now: () => now }, source)
  await until(() => open.length === 1)
  open[0]?.end({ dueAt: 6_000 })
  await turns()
  t.mock.timers.tick(10)
  await turns()
  assert.equal(started.length, 1)
  now = 6_000
  t.mock.timers.tick(5_000)
  await until(() => started.length === 2)
  open[0]?.end({})
  t.mock.timers.reset()
  await dispatcher.stop(0)
})

test('what was read of a line that was changed is read again', async (t) => {
  const rows = rowsOf('a', 30)
  const { source, open, started, key } = createSource(rows)
  const dispatcher = start(t, source)
  await until(() => open.length === 10)
  // Its endpoint was disabled.
  for (const row of rows) row.dueAt = null
  dispatcher.refresh(key('a'))
  for (const { end } of [...open]) end({})
  await turns()
  assert.equal(started.length, 10)
})

test('a notice starts a line; a stop aborts what is in flight and records nothing of it', async (t) => {
  const rows: Row[] = []
  const { source, open, recorded, started, key } = createSource(rows)
  const dispatcher = start(t, source)
  await turns()
  assert.equal(started.length, 0)
  rows.push(...rowsOf('a', 3))
  dispatcher.notify(key('a'), 0)
  await until(() => open.length === 3)
  open[0]?.end({})
  await dispatcher.stop(0)
  assert.deepEqual([started, recorded, open], [[1, 2, 3], [1], []])
})

test('a stop waits for an answer that comes in 2 seconds, and for no longer than 3', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { source, open, recorded, key } = createSource(rowsOf('a', 2))
  const dispatcher = start(t, source)
  dispatcher.notify(key('a'), 0)
  await until(() => open.length === 2)
  const stopped = dispatcher.stop(7_000)
  t.mock.timers.tick(2_000)
  open[0]?.end({})
  await turns()
  t.mock.timers.tick(10)
  await until(() => recorded.length === 1)
  assert.equal(open.length, 1)
  t.mock.timers.tick(1_000)
  await stopped
  assert.deepEqual([recorded, open], [[1], []])
})
