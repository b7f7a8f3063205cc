import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { silentLog } from '../../../../src/base/log.ts'
import { startAnswering } from '../../../../src/features/operation/questions/answer.ts'
import { askServer as askWithin } from '../../../../src/features/operation/questions/ask.ts'
import type { DeliveryProgress, SiteStatus } from '../../../../src/outbound/sites/site-status.ts'
import { takeServeLock } from '../../../../src/store/files/serve-lock.ts'
import { serverQuestions } from '../../../../src/store/schema/service.ts'
import { openStore } from '../../../../src/store/store.ts'
import { openTestCore } from '../../../core.ts'

const status = (site: string, change: Partial<SiteStatus> = {}): SiteStatus => ({
  ...{
    site,
    connections: 1,
    maxConnections: 10,
    limited: null,
    messagesPerMinute: null,
    rateUntil: null,
  },
  ...{ inFlight: 0, restrictedSince: null, blockedUntil: null, cause: null, ...change },
})

/** A command's store and a server's, on one file; the server knows these sites. */
async function open(t: TestContext, sites: SiteStatus[] = [], { keptMs = 10_000 } = {}) {
  const core = await openTestCore(t)
  const { file } = core.config.database
  // Where the file of the lock is there, nobody is asked who else has the database open.
  await writeFile(`${file}.serving`, '')
  const lock = await takeServeLock(file, { log: silentLog() })
  t.after(() => lock.release())
  const store = await openStore({ path: file, log: silentLog() })
  const lifted: string[] = []
  const progress: DeliveryProgress = {
    ...{ site: 'a.test', step: 'rcpt', peer: null, since: core.clock.now },
  }
  const outbound = {
    sites: () => sites,
    siteOf: (domain: string) => (domain.endsWith('.b.test') ? 'b.test' : domain),
    capacity: (site: string) => (site === 'b.test' ? 0 : 5),
    lacksConnection: (site: string) => site === 'a.test',
    projectCapacity: (_id: string, queueClass: number) => (queueClass === 1 ? 1 : 0),
    liftSite: (site: string) => {
      lifted.push(site)
      return sites.some((each) => each.site === site && each.restrictedSince !== null)
    },
    progressOf: async (id: string) => (id === 'e1' ? progress : undefined),
  }
  const throttle = { status: () => ({ emailsPerSecond: 3, isShort: true }) }
  const reads = { count: 0 }
  const counted = {
    ...store,
    read: {
      list: (...given: Parameters<typeof store.read.list>) => {
        reads.count += 1
        return store.read.list(...given)
      },
      find: store.read.find.bind(store.read),
    },
  }
  const deps = { ...core, store: counted, outbound, throttle } as never
  const answering = startAnswering(deps, keptMs)
  t.after(async () => {
    await answering.stop()
    await store.close()
  })
  const rows = () => core.store.read.select().from(serverQuestions).all()
  return { core, answering, lock, lifted, progress, reads, rows }
}

/** As commands do, and as patiently as a busy machine needs. */
const askServer: typeof askWithin = (core, question, timeoutMs = 60_000) =>
  askWithin(core, question, timeoutMs)

test('a command gets the live state of emails from the server', async (t) => {
  const { core, progress } = await open(t, [status('b.test', { inFlight: 7 })])
  const question = { domains: ['a.test', 'x.b.test'], projectIds: ['p1'], emailIds: ['e1', 'e2'] }
  const asked = await askServer(core, { kind: 'queue', question })
  assert.deepEqual(asked, {
    server: 'running',
    answer: {
      sites: {
        'a.test': {
          site: 'a.test',
          status: null,
          hasCapacity: { 1: true, 5: true, 10: true },
          lackedBy: ['p1'],
        },
        'x.b.test': {
          site: 'b.test',
          status: status('b.test', { inFlight: 7 }),
          hasCapacity: { 1: false, 5: false, 10: false },
          lackedBy: [],
        },
      },
      projects: {
        p1: { emailsPerSecond: 3, isShort: true, hasCapacity: { 1: true, 5: false, 10: false } },
      },
      progress: { e1: progress },
    },
  })
})

test('sites with problems are listed first, then the busy ones', async (t) => {
  const { core } = await open(t, [
    status('idle.test'),
    status('busy.test', { inFlight: 3 }),
    status('later.test', { restrictedSince: 2 }),
    status('first.test', { restrictedSince: 1 }),
  ])
  const asked = await askServer(core, { kind: 'sites', question: {} })
  assert.ok(asked.server === 'running')
  assert.deepEqual(
    asked.answer.sites.map(({ site }) => site),
    ['first.test', 'later.test', 'busy.test', 'idle.test'],
  )
  assert.equal(asked.answer.left, 0)
})

test('a back-off is lifted by the name of the site or of a domain whose mail goes there, once', async (t) => {
  const { core, lifted } = await open(t, [status('b.test', { restrictedSince: 1 })])
  const domains = ['x.b.test', 'y.b.test', 'a.test']
  for (const site of ['b.test', 'x.b.test']) {
    const asked = await askServer(core, { kind: 'lift', question: { site, domains } })
    assert.ok(asked.server === 'running')
    assert.deepEqual(asked.answer, {
      ...{ site: 'b.test', isKnown: true, isLifted: true, domains: ['x.b.test', 'y.b.test'] },
      waiting: 0,
    })
  }
  const unknown = await askServer(core, { kind: 'lift', question: { site: 'c.test', domains } })
  assert.ok(unknown.server === 'running')
  assert.deepEqual([unknown.answer.isKnown, unknown.answer.isLifted], [false, false])
  assert.deepEqual(lifted, ['b.test', 'b.test', 'c.test'])
})

test('the end of a back-off wakes the whole queue', async (t) => {
  const { core } = await open(t, [status('b.test', { restrictedSince: 1 })])
  const calls: unknown[] = []
  core.queueNotifier.listen((call) => calls.push(call))
  await askServer(core, { kind: 'lift', question: { site: 'b.test', domains: [] } })
  assert.deepEqual(calls, ['anywhere'])
})

test('many simultaneous questions each get their own answer', async (t) => {
  const { core } = await open(t, [])
  const asked = await Promise.all(
    Array.from({ length: 20 }, (_, index) => {
      const question = { domains: [`d${index}.test`], projectIds: [], emailIds: [] }
      return askServer(core, { kind: 'queue', question })
    }),
  )
  const answered = asked.flatMap((one) =>
    one.server === 'running' ? Object.keys(one.answer.sites) : [],
  )
  assert.deepEqual(
    answered,
    Array.from({ length: 20 }, (_, index) => `d${index}.test`),
  )
})

test('no question is stored without a server, and the wait for a silent server is short', async (t) => {
  const { core, answering, lock, rows } = await open(t)
  await answering.stop()
  const silent = await askServer(core, { kind: 'sites', question: {} }, 30)
  assert.deepEqual(silent, { server: 'silent' })
  assert.deepEqual(await rows(), [], 'the question is taken back')
  lock.release()
  // No time passes, so nobody can wait.
  t.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] })
  assert.deepEqual(await askServer(core, { kind: 'sites', question: {} }), { server: 'none' })
  t.mock.timers.reset()
  assert.deepEqual(await rows(), [])
})

test('an unknown question gets an error and does not stop the next one', async (t) => {
  const { core } = await open(t)
  const strange = { kind: 'dance', question: {} } as never
  assert.deepEqual(await askServer(core, strange), { server: 'silent' })
  assert.equal((await askServer(core, { kind: 'sites', question: {} })).server, 'running')
})

test('old questions are deleted and never acted on', async (t) => {
  const keptMs = 40
  const { core, lifted, rows } = await open(t, [], { keptMs })
  const question = { kind: 'lift', question: { site: 'b.test', domains: [] } }
  const askedAt = core.clock.now - keptMs
  await core.store.write(async (tx) => {
    await tx.insert(serverQuestions).values({ id: 'old', question, askedAt })
  })
  assert.equal((await askServer(core, { kind: 'sites', question: {} })).server, 'running')
  assert.deepEqual(lifted, [])
  core.clock.now += keptMs + 1
  for (let tries = 0; (await rows()).length > 0; tries += 1) {
    assert.ok(tries < 500, 'never swept')
    await sleep(10)
  }
})

test('the server does not poll while no other process writes', async (t) => {
  const { reads } = await open(t)
  await sleep(300)
  const { count } = reads
  await sleep(500)
  // A checkpoint looks like a change by another process.
  assert.ok(reads.count - count <= 1, `${reads.count - count} looks`)
})
