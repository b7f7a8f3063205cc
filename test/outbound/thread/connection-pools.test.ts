import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { Lane, ThreadResult, ThreadTask } from '../../../src/outbound/protocol.ts'
import type { Session } from '../../../src/outbound/smtp/session.ts'
import { createLanes } from '../../../src/outbound/thread/connection-pools.ts'
import type { Tried, TryInput } from '../../../src/outbound/thread/try-task.ts'
import type { QueueClass } from '../../../src/queue-class.ts'

type FakeSession = Session & { isClosed: boolean; lane: string; sent: number }

/** Lanes over sessions that only count; each try waits until it is let go. */
function setUp() {
  const sessions: FakeSession[] = []
  const trying: { input: TryInput; end: () => void }[] = []
  const results: ThreadResult[] = []
  const granted: [string, number][] = []
  const greeted: string[] = []
  const clock = { at: 0 }
  let mostOpen = 0

  function openSession(lane: string): FakeSession {
    const session = {
      isClosed: false,
      lane,
      sent: 0,
      get isUsable() {
        return !session.isClosed
      },
      get sendCount() {
        return session.sent
      },
      async quit() {
        await turn()
        session.isClosed = true
      },
      close() {
        session.isClosed = true
      },
    } as unknown as FakeSession
    sessions.push(session)
    mostOpen = Math.max(mostOpen, openSessions().length)
    return session
  }
  const openSessions = () => sessions.filter(({ isClosed }) => !isClosed)

  async function tryTask(input: TryInput): Promise<Tried> {
    const session = (input.session ?? openSession(input.lane.key)) as FakeSession
    session.sent++
    await new Promise<void>((resolve) => trying.push({ input, end: resolve }))
    const outcome = {} as Extract<ThreadResult, { kind: 'attempted' }>['outcome']
    const { task } = input.task
    const result = { task, kind: 'attempted', outcome, subject: '', startedAt: 0, brokenTls: null }
    return { session, result: result as ThreadResult }
  }

  const lanes = createLanes({
    tryTask,
    report: (result) => results.push(result),
    granted: (site, connections) => granted.push([site, connections]),
    greeted: (site) => greeted.push(site),
    warn: (text) => assert.fail(text),
    now: () => clock.at,
  })
  let last = 0
  const add = (lane: string, count: number, queueClass: QueueClass = 10) => {
    lanes.setLane({ key: lane, site: 's', messagesPerConnection: 3 } as Lane)
    for (let at = 0; at < count; at++) lanes.add({ task: ++last, lane, queueClass } as ThreadTask)
    lanes.start()
  }
  /** Ends the oldest try, or all there are and will be. */
  const endOne = async () => {
    trying.shift()?.end()
    await settle()
  }
  const endAll = async () => {
    while (trying.length > 0) await endOne()
  }
  const settle = async () => {
    for (let at = 0; at < 5; at++) await turn()
  }
  return {
    lanes,
    add,
    endOne,
    endAll,
    settle,
    trying,
    results,
    granted,
    greeted,
    sessions,
    openSessions,
    clock,
    mostOpen: () => mostOpen,
  }
}

test('nothing is sent without a grant, and never on more connections than granted', async () => {
  const { lanes, add, trying, endAll, mostOpen, results } = setUp()
  add('a', 2)
  assert.equal(trying.length, 0)
  assert.ok(results.splice(0).every(({ kind }) => kind === 'returned'))
  lanes.grant('s', 3)
  add('a', 12)
  assert.equal(trying.length, 3)
  await endAll()
  assert.equal(results.length, 12)
  assert.equal(mostOpen(), 3)
})

test('a connection carries as many messages as it may, then another is opened', async () => {
  const { lanes, add, endAll, sessions } = setUp()
  lanes.grant('s', 1)
  add('a', 7)
  await endAll()
  assert.deepEqual(
    sessions.map(({ sent }) => sent),
    [3, 3, 1],
  )
})

test('an idle session is used again, and closed when nobody does', async () => {
  const { lanes, add, endAll, settle, sessions, openSessions, clock } = setUp()
  lanes.grant('s', 2)
  add('a', 1)
  await endAll()
  add('a', 1)
  await endAll()
  assert.equal(sessions.length, 1)
  clock.at += 29_000
  lanes.closeIdle(30_000)
  assert.equal(openSessions().length, 1)
  clock.at += 1_000
  lanes.closeIdle(30_000)
  await settle()
  assert.equal(openSessions().length, 0)
  add('a', 1)
  assert.equal(sessions.length, 2)
})

test('an idle session of another lane gives way when the site is full', async () => {
  const { lanes, add, endAll, settle, trying, openSessions, mostOpen } = setUp()
  lanes.grant('s', 2)
  add('a', 2)
  await endAll()
  add('b', 1)
  assert.equal(trying.length, 0)
  await settle()
  assert.equal(trying[0]?.input.lane.key, 'b')
  assert.deepEqual(
    openSessions()
      .map(({ lane }) => lane)
      .sort(),
    ['a', 'b'],
  )
  assert.equal(mostOpen(), 2)
})

test('a lane with much to send lets another in after a connection is used up', async () => {
  const { lanes, add, endOne, trying } = setUp()
  lanes.grant('s', 1)
  add('a', 50)
  add('b', 1)
  for (let at = 0; at < 3; at++) await endOne()
  assert.equal(trying[0]?.input.lane.key, 'b')
  await endOne()
  assert.equal(trying[0]?.input.lane.key, 'a')
})

test('transactional mail goes before what waits of a campaign', async () => {
  const { lanes, add, endOne, trying } = setUp()
  lanes.grant('s', 1)
  add('a', 3, 10)
  add('a', 1, 1)
  await endOne()
  assert.equal(trying[0]?.input.task.queueClass, 1)
})

test('transactional mail to other hosts of the site waits for one message only', async () => {
  const { lanes, add, endOne, endAll, trying, results } = setUp()
  lanes.grant('s', 2)
  add('a', 20, 10)
  add('b', 1, 1)
  await endOne()
  assert.deepEqual(
    trying.map(({ input }) => input.lane.key),
    ['a', 'b'],
  )
  await endAll()
  assert.equal(results.length, 21)
})

test('a lane that nobody uses is forgotten, and comes back with its next task', async () => {
  const { lanes, add, endAll, settle, results, clock } = setUp()
  lanes.grant('s', 1)
  add('a', 1)
  await endAll()
  clock.at += 30_000
  lanes.closeIdle(30_000)
  assert.throws(() => lanes.add({ task: 99, lane: 'a', queueClass: 10 } as ThreadTask), TypeError)
  await settle()
  add('a', 2)
  lanes.closeIdle(0)
  await endAll()
  assert.equal(results.length, 3)
})

test('a lower grant is answered when the connections beyond it are closed', async () => {
  const { lanes, add, endOne, settle, trying, granted, openSessions } = setUp()
  lanes.grant('s', 3)
  add('a', 6)
  lanes.grant('s', 1)
  assert.deepEqual(granted, [])
  await endOne()
  await endOne()
  await settle()
  assert.deepEqual(granted, [['s', 1]])
  assert.equal(openSessions().length, 1)
  assert.equal(trying.length, 1)
})

test('without any grant left what waits is handed back and the site forgotten', async () => {
  const { lanes, add, endOne, settle, results, granted, openSessions } = setUp()
  lanes.grant('s', 1)
  add('a', 4)
  lanes.grant('s', 0)
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['returned', 'returned', 'returned'],
  )
  await endOne()
  await settle()
  assert.deepEqual(granted, [['s', 0]])
  assert.equal(openSessions().length, 0)
  assert.equal(results.length, 4)
})

test('a withdrawal hands back what waits and lets what is in hand end', async () => {
  const { lanes, add, endAll, results } = setUp()
  lanes.grant('s', 1)
  add('a', 4)
  lanes.withdraw('s')
  assert.equal(results.length, 3)
  const settled = lanes.settle()
  await endAll()
  await settled
  assert.equal(results.length, 4)
  assert.equal(results.at(-1)?.kind, 'attempted')
})
