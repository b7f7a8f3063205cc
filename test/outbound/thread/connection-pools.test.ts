import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { QueueClass } from '../../../src/base/queue-class.ts'
import type { PoolSettings, SmtpTask, TaskResult } from '../../../src/outbound/protocol.ts'
import type { SmtpSession } from '../../../src/outbound/smtp/session.ts'
import type { ReadyMessage } from '../../../src/outbound/thread/begun-tasks.ts'
import { createConnectionPools } from '../../../src/outbound/thread/connection-pools.ts'
import type { Tried, TryInput } from '../../../src/outbound/thread/try-task.ts'

type FakeSession = SmtpSession & { isClosed: boolean; pool: string; sent: number }

/** Connection pools with fake sessions that count; each attempt waits until the test ends it. */
function setUp() {
  const sessions: FakeSession[] = []
  const trying: { input: TryInput; end: () => void }[] = []
  const results: TaskResult[] = []
  const allocated: [string, number][] = []
  const greeted: string[] = []
  const clock = { at: 0 }
  /** What `composeNext` says of a task. */
  const kinds = new Map<number, 'large' | 'heavy' | 'faulty'>()
  const discarded: string[] = []
  const warnings: string[] = []
  let mostOpen = 0
  let isLost = false

  function openSession(pool: string): FakeSession {
    const session = {
      isClosed: false,
      pool,
      sent: 0,
      get isUsable() {
        return !session.isClosed
      },
      get sendCount() {
        return session.sent
      },
      // A session is over once QUIT is sent; the server may take its time to reply.
      async quit() {
        session.isClosed = true
        await turn()
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
    const session = (input.session ?? openSession(input.pool.key)) as FakeSession
    await new Promise<void>((resolve) => trying.push({ input, end: resolve }))
    session.sent++
    session.isClosed ||= isLost
    isLost = false
    const outcome = {} as Extract<TaskResult, { kind: 'attempted' }>['outcome']
    const { task } = input.task
    const result = { task, kind: 'attempted', outcome, subject: '', startedAt: 0, brokenTls: null }
    return { session: session.isClosed ? null : session, result: result as TaskResult }
  }

  function composeNext({ task }: SmtpTask): ReadyMessage | TaskResult | null {
    if (kinds.get(task) === 'large') return null
    if (kinds.get(task) === 'heavy') return { task, kind: 'heavy' }
    if (kinds.get(task) === 'faulty') throw new TypeError('the thread has no value')
    const composed = { octets: `message ${task}`, subject: '', needsSmtputf8: false, faults: [] }
    const envelope = { reversePath: '', recipient: `${task}@x.test`, needsSmtputf8: false }
    return { composed, envelope }
  }

  const pools = createConnectionPools({
    tryTask,
    composeNext,
    discard: ({ composed }) => discarded.push(composed.octets),
    finished: (result) => results.push(result),
    allocated: (site, connections) => allocated.push([site, connections]),
    greeted: (site) => greeted.push(site),
    warn(text) {
      warnings.push(text)
      if (kinds.size === 0) assert.fail(text)
    },
    now: () => clock.at,
  })
  let last = 0
  const add = (pool: string, count: number, queueClass: QueueClass = 10) => {
    pools.setPool({ key: pool, site: 's', messagesPerConnection: 3 } as PoolSettings)
    for (let at = 0; at < count; at++) pools.add({ task: ++last, pool, queueClass } as SmtpTask)
    pools.start()
  }
  /** Ends the oldest attempt. */
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
    pools,
    add,
    endOne,
    endAll,
    settle,
    trying,
    results,
    allocated,
    greeted,
    sessions,
    openSessions,
    clock,
    kinds,
    discarded,
    warnings,
    /** The session of the next attempt that ends is lost. */
    loseNext() {
      isLost = true
    },
    mostOpen: () => mostOpen,
  }
}

test('a site without an allocation puts tasks back, and no site exceeds its allocation', async () => {
  const { pools, add, trying, endAll, mostOpen, results } = setUp()
  add('a', 2)
  assert.equal(trying.length, 0)
  assert.ok(results.splice(0).every(({ kind }) => kind === 'put back'))
  pools.allocate('s', 3)
  add('a', 12)
  assert.equal(trying.length, 3)
  await endAll()
  assert.equal(results.length, 12)
  assert.equal(mostOpen(), 3)
})

test('a connection carries as many messages as it may, then another is opened', async () => {
  const { pools, add, endAll, sessions } = setUp()
  pools.allocate('s', 1)
  add('a', 7)
  await endAll()
  assert.deepEqual(
    sessions.map(({ sent }) => sent),
    [3, 3, 1],
  )
})

test('an idle session is used again, and closed after a while', async () => {
  const { pools, add, endAll, settle, sessions, openSessions, clock } = setUp()
  pools.allocate('s', 2)
  add('a', 1)
  await endAll()
  add('a', 1)
  await endAll()
  assert.equal(sessions.length, 1)
  clock.at += 29_000
  pools.closeIdle(30_000)
  assert.equal(openSessions().length, 1)
  clock.at += 1_000
  pools.closeIdle(30_000)
  await settle()
  assert.equal(openSessions().length, 0)
  add('a', 1)
  assert.equal(sessions.length, 2)
})

test('an idle session of another pool is closed when the site has no free connection', async () => {
  const { pools, add, endAll, trying, openSessions, mostOpen } = setUp()
  pools.allocate('s', 2)
  add('a', 2)
  await endAll()
  add('b', 1)
  assert.equal(trying[0]?.input.pool.key, 'b')
  assert.deepEqual(
    openSessions()
      .map(({ pool }) => pool)
      .sort(),
    ['a', 'b'],
  )
  assert.equal(mostOpen(), 2)
})

test('a pool with many tasks lets another pool in when its connection has carried its messages', async () => {
  const { pools, add, endOne, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 50)
  add('b', 1)
  for (let at = 0; at < 3; at++) await endOne()
  assert.equal(trying[0]?.input.pool.key, 'b')
  await endOne()
  assert.equal(trying[0]?.input.pool.key, 'a')
})

test('transactional mail goes before the waiting mail of a campaign', async () => {
  const { pools, add, endOne, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 3, 10)
  add('a', 1, 1)
  await endOne()
  assert.equal(trying[0]?.input.task.queueClass, 1)
})

test('transactional mail to other hosts of the site waits for one message only', async () => {
  const { pools, add, endOne, endAll, trying, results } = setUp()
  pools.allocate('s', 2)
  add('a', 20, 10)
  add('b', 1, 1)
  await endOne()
  assert.deepEqual(
    trying.map(({ input }) => input.pool.key),
    ['a', 'b'],
  )
  await endAll()
  assert.equal(results.length, 21)
})

test('an unused pool is removed and created again for its next task', async () => {
  const { pools, add, endAll, settle, results, clock } = setUp()
  pools.allocate('s', 1)
  add('a', 1)
  await endAll()
  clock.at += 30_000
  pools.closeIdle(30_000)
  assert.throws(() => pools.add({ task: 99, pool: 'a', queueClass: 10 } as SmtpTask), TypeError)
  await settle()
  add('a', 2)
  pools.closeIdle(0)
  await endAll()
  assert.equal(results.length, 3)
})

test('a lower allocation is confirmed when the connections beyond it are closed', async () => {
  const { pools, add, endOne, settle, trying, allocated, openSessions } = setUp()
  pools.allocate('s', 3)
  add('a', 6)
  pools.allocate('s', 1)
  assert.deepEqual(allocated, [])
  await endOne()
  await endOne()
  await settle()
  assert.deepEqual(allocated, [['s', 1]])
  assert.equal(openSessions().length, 1)
  assert.equal(trying.length, 1)
})

test('a lower allocation closes idle sessions beyond it at once', async () => {
  const { pools, add, endAll, settle, allocated, openSessions } = setUp()
  pools.allocate('s', 3)
  add('a', 3)
  await endAll()
  assert.equal(openSessions().length, 3)
  pools.allocate('s', 1)
  await settle()
  assert.deepEqual(allocated, [['s', 1]])
  assert.equal(openSessions().length, 1)
})

test('an allocation of 0 puts waiting tasks back and removes the site', async () => {
  const { pools, add, endOne, settle, results, allocated, openSessions } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  pools.allocate('s', 0)
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['put back', 'put back', 'put back'],
  )
  await endOne()
  await settle()
  assert.deepEqual(allocated, [['s', 0]])
  assert.equal(openSessions().length, 0)
  assert.equal(results.length, 4)
})

test('a released site closes its sessions and confirms nothing', async () => {
  const { pools, add, endAll, settle, allocated, openSessions, trying } = setUp()
  pools.allocate('s', 2)
  add('a', 2)
  await endAll()
  pools.release('s')
  await settle()
  assert.deepEqual(allocated, [])
  assert.equal(openSessions().length, 0)
  pools.allocate('s', 1)
  add('a', 1)
  assert.equal(trying.length, 1)
})

test('a recall puts waiting tasks back and lets running ones end', async () => {
  const { pools, add, endAll, results } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  pools.recall('s')
  assert.equal(results.length, 3)
  await endAll()
  assert.equal(results.length, 4)
  assert.equal(results.at(-1)?.kind, 'attempted')
})

test('finish puts waiting tasks back and asks the running ones to come back', async () => {
  const { pools, add, results, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  await pools.finish()
  assert.deepEqual(
    results.map(({ kind }) => kind),
    ['put back', 'put back', 'put back'],
  )
  assert.equal(trying[0]?.input.withdrawal.isAsked, true)
})

test('withdrawn tasks come back at once, and those that run are asked to', async () => {
  const { pools, add, endAll, results, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  pools.withdraw(new Set([1, 3]))
  assert.deepEqual(results, [{ task: 3, kind: 'put back', delayMs: 0 }])
  assert.equal(trying[0]?.input.withdrawal.isAsked, true)
  await endAll()
  assert.deepEqual(
    results.map(({ task }) => task),
    [3, 1, 2, 4],
  )
})

test('the next message is begun in a session that sends one, and it follows', async () => {
  const { pools, add, endOne, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 2)
  await endOne()
  add('a', 2)
  assert.equal(trying[0]?.input.task.task, 2)
  assert.deepEqual(trying[0]?.input.next?.(), {
    message: 'message 3',
    envelope: { reversePath: '', recipient: '3@x.test', needsSmtputf8: false },
  })
  // It waits: no receiver has it.
  assert.equal(pools.progressOf(3)?.step, 'waiting')
  add('a', 1, 1)
  await endOne()
  assert.equal(trying[0]?.input.task.task, 3)
  assert.equal(trying[0]?.input.ready?.composed.octets, 'message 3')
  assert.equal(trying[0]?.input.session?.sendCount, 2)
})

test('no message is begun that another connection could take, or that the session may not carry', async () => {
  const { pools, add, endOne, trying } = setUp()
  pools.allocate('s', 2)
  add('a', 4)
  // One waits, and two connections could take it: the sessions are new, too.
  await endOne()
  const [, second] = trying
  assert.equal(second?.input.task.task, 3)
  assert.equal(second?.input.next?.(), null)
  add('a', 1)
  assert.notEqual(second?.input.next?.(), null)
  await endOne()
  await endOne()
  const last = trying.find(({ input }) => input.session?.sendCount === 2)
  add('a', 4)
  assert.equal(last?.input.next?.(), null)
})

test('a large message is not begun, and a heavy one comes back at once', async () => {
  const { pools, add, endOne, trying, results, kinds } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  await endOne()
  kinds.set(3, 'large')
  assert.equal(trying[0]?.input.next?.(), null)
  kinds.set(3, 'heavy')
  assert.equal(trying[0]?.input.next?.(), null)
  assert.deepEqual(results.at(-1), { task: 3, kind: 'heavy' })
  await endOne()
  assert.equal(trying[0]?.input.task.task, 4)
})

test('no message is begun for a site that gives up connections or has more urgent mail', async () => {
  const { pools, add, endOne, trying } = setUp()
  pools.allocate('s', 1)
  add('a', 4)
  await endOne()
  add('b', 1, 1)
  assert.equal(trying[0]?.input.next?.(), null)
  const lowered = setUp()
  lowered.pools.allocate('s', 1)
  lowered.add('a', 4)
  await lowered.endOne()
  lowered.pools.allocate('s', 0)
  assert.equal(lowered.trying[0]?.input.next?.(), null)
})

test('a fault in the next message is no fault of the one that is being sent', async () => {
  const { pools, add, endOne, trying, kinds, warnings } = setUp()
  pools.allocate('s', 1)
  add('a', 3)
  await endOne()
  kinds.set(3, 'faulty')
  assert.equal(trying[0]?.input.next?.(), null)
  assert.match(warnings[0] ?? '', /no value/)
  await endOne()
  assert.deepEqual([trying[0]?.input.task.task, trying[0]?.input.ready], [3, null])
})

/** Task 3 has begun behind task 2, in a session that has sent task 1. */
async function beginThird() {
  const own = setUp()
  own.pools.allocate('s', 1)
  own.add('a', 3)
  await own.endOne()
  assert.notEqual(own.trying[0]?.input.next?.(), null)
  return own
}

const backAtOnce = { task: 3, kind: 'put back', delayMs: 0 }
const back = { task: 3, kind: 'put back' }

test('a begun task comes back at once, and its session ends after the message before it', async () => {
  const cases = [
    [backAtOnce, ({ withdraw }) => withdraw(new Set([3]))],
    [back, ({ recall }) => recall('s')],
    [back, ({ allocate }) => allocate('s', 0)],
    [back, ({ release }) => release('s')],
    [back, ({ finish }) => void finish()],
  ] satisfies [object, (pools: ReturnType<typeof setUp>['pools']) => void][]
  for (const [result, act] of cases) {
    const { pools, endAll, results, discarded, openSessions, trying } = await beginThird()
    act(pools)
    assert.deepEqual(results.at(-1), result, String(act))
    assert.deepEqual(discarded, ['message 3'])
    assert.equal(pools.progressOf(3), undefined)
    await endAll()
    assert.equal(trying.length, 0)
    assert.equal(openSessions().length, 0)
    assert.deepEqual(
      results.map(({ task, kind }) => [task, kind]),
      [
        [1, 'attempted'],
        [3, 'put back'],
        [2, 'attempted'],
      ],
    )
  }
})

test('a begun task whose turn does not come goes on in another connection', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { pools, endOne, trying, sessions, discarded } = await beginThird()
  pools.allocate('s', 2)
  t.mock.timers.tick(1_000)
  assert.equal(trying.length, 1)
  t.mock.timers.tick(1_000)
  assert.deepEqual(discarded, ['message 3'])
  const other = trying[1]?.input
  assert.deepEqual([other?.task.task, other?.ready, other?.session], [3, null, null])
  // The session of message 2 has the envelope of message 3.
  await endOne()
  assert.equal(sessions[0]?.isClosed, true)
  assert.equal(sessions[1]?.isClosed, false)
  assert.equal(trying.length, 1)
})

test('a begun task whose turn comes is not taken back', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const { add, endOne, trying, discarded, sessions } = await beginThird()
  add('a', 1)
  t.mock.timers.tick(1_000)
  await endOne()
  assert.equal(trying[0]?.input.task.task, 3)
  t.mock.timers.tick(5_000)
  assert.deepEqual(discarded, [])
  await endOne()
  // The session has carried its three messages.
  assert.equal(trying[0]?.input.task.task, 4)
  assert.equal(sessions.length, 2)
})

test('a begun task waits again if its site gives up the connection, or the session is lost', async () => {
  const lowered = setUp()
  lowered.pools.allocate('s', 2)
  lowered.add('a', 6)
  await lowered.endOne()
  await lowered.endOne()
  assert.notEqual(lowered.trying[0]?.input.next?.(), null)
  lowered.pools.allocate('s', 1)
  await lowered.endOne()
  assert.deepEqual(lowered.allocated, [['s', 1]])
  assert.equal(lowered.openSessions().length, 1)
  assert.deepEqual(lowered.discarded, ['message 5'])
  await lowered.endAll()
  assert.equal(lowered.results.length, 6)
  const lost = await beginThird()
  lost.add('a', 1, 1)
  lost.loseNext()
  await lost.endOne()
  // More urgent mail is first again.
  assert.deepEqual([lost.trying[0]?.input.task.task, lost.trying[0]?.input.session], [4, null])
  await lost.endAll()
  assert.equal(lost.results.length, 4)
})
