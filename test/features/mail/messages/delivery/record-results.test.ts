import assert from 'node:assert/strict'
import { unlink } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../../src/base/errors.ts'
import {
  createDeliverer,
  type Deliverer,
} from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { sql } from '../../../../../src/store/drizzle.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { address, START } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { statementsOf } from '../../../../statements.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

type Line = Sender & {
  delivery: Deliverer
  /** Calls of `store.write` since the emails were handed over. */
  writes: () => number
}

/** Hands over `count` emails, whose results are still to come. */
async function openLine(t: TestContext, count: number): Promise<Line> {
  const sender = await openSender(t)
  const to = Array.from({ length: count }, (_, index) => `user${index}@dest.test`)
  await sender.send({ to: to.map((text) => ({ address: address(text), name: null })) })
  const { promise: handed, resolve } = Promise.withResolvers<void>()
  const { deliver } = sender.core.outbound
  sender.core.outbound.deliver = (tasks) => {
    deliver(tasks)
    resolve()
  }
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  await handed
  assert.equal(sender.tasks.length, count)
  sender.capacity.set('dest.test', 0)
  const write = t.mock.method(sender.core.store, 'write')
  return { ...sender, delivery, writes: () => write.mock.callCount() }
}

async function statesOf({ email, tasks }: Sender): Promise<string[]> {
  return Promise.all(tasks.map(async ({ emailId }) => (await email(emailId)).state))
}

test('results of all kinds that arrive together are recorded in one write', async (t) => {
  const line = await openLine(t, 6)
  const kinds = ['delivered', 'hard', 'delivered', 'deferred', 'relayed'] as const
  const reports = kinds.map((kind, index) => attempted(line.tasks[index] as never, kind))
  const returned = { emailId: line.tasks[5]?.emailId as string, kind: 'put back' } as const
  line.delivery.finished([...reports, { ...returned, site: 'x', retryAt: START + 60_000 }])
  await line.delivery.settled(5_000)
  assert.equal(line.writes(), 1)
  const states = ['delivered', 'bounced', 'delivered', 'deferred', 'relayed', 'queued']
  assert.deepEqual(await statesOf(line), states)
  assert.deepEqual(line.delivery.inFlight(), [])
})

test('events are in the order of the results, `email.sent` before `email.delivery`', async (t) => {
  const line = await openLine(t, 3)
  line.delivery.finished(line.tasks.map((task) => attempted(task, 'delivered')))
  await line.delivery.settled(5_000)
  const rows = await line.core.store.read.select().from(events).orderBy(events.seq).all()
  assert.deepEqual(
    rows.map(({ name, emailId }) => [name, emailId]),
    line.tasks.flatMap(({ emailId }) => [
      ['email.sent', emailId],
      ['email.delivery', emailId],
    ]),
  )
  assert.equal(new Set(rows.map(({ id }) => id)).size, 6)
})

test('a result that cannot be written does not lose others', async (t) => {
  const line = await openLine(t, 3)
  const broken = { steps: [{ step: 'mail', at: 1n, durationMs: 1 }] } as never
  const reports = line.tasks.map((task, index) =>
    attempted(task, 'delivered', index === 1 ? broken : {}),
  )
  line.delivery.finished(reports)
  await line.delivery.settled(5_000)
  assert.deepEqual(await statesOf(line), ['delivered', 'sending', 'delivered'])
  assert.deepEqual(line.delivery.inFlight(), [])
})

test('an email that was put back and claimed again stays in flight while others are recorded', async (t) => {
  const line = await openLine(t, 2)
  const [first, second] = line.tasks.map(({ emailId }) => emailId) as [string, string]
  const { write } = line.core.store
  // The batch fails, then the second of its results meets a lock.
  const answers = [new TypeError('a row at fault'), null, new AppError('DATABASE_ERROR', 'busy')]
  line.core.store.write = (fn) => {
    const answer = answers.shift() ?? null
    return answer === null ? write(fn) : Promise.reject(answer)
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  const again = Promise.withResolvers<void>()
  line.core.outbound.deliver = () => again.resolve()
  const returned = { emailId: first, kind: 'put back', site: 'x', retryAt: null } as const
  line.delivery.finished([returned, attempted(line.tasks[1] as never, 'delivered')])
  const settled = line.delivery.settled(60_000)
  while (answers.length > 0) await pause()
  line.capacity.set('dest.test', 10)
  line.core.queueNotifier.notify('capacity')
  await again.promise
  t.mock.timers.tick(1_000)
  await settled
  assert.deepEqual(line.delivery.inFlight(), [first])
  line.delivery.finished([attempted(line.tasks[0] as never, 'delivered')])
  const last = line.delivery.settled(60_000)
  await last
  assert.equal((await line.email(first)).state, 'delivered')
  assert.equal((await line.email(second)).state, 'delivered')
})

test('a stop does not wait for a disk that fails', async (t) => {
  const { core, send } = await openSender(t)
  await send()
  const refused = Promise.withResolvers<void>()
  const delivery = createDeliverer(core)
  // The claimed email cannot be handed over; it is put back, which the disk refuses.
  core.directory.heldDomains = async () => {
    t.mock.method(core.store, 'write', async () => {
      refused.resolve()
      throw new AppError('DATABASE_ERROR', 'full')
    })
    throw new TypeError('no holds were read')
  }
  const queue = startQueue(core, delivery)
  await refused.promise
  t.mock.timers.enable({ apis: ['setTimeout'] })
  await queue.stop()
  assert.deepEqual(delivery.inFlight(), [])
})

test('results stay in memory while the database cannot be written, and are recorded later', async (t) => {
  const line = await openLine(t, 2)
  const { write } = line.core.store
  let refusals = 2
  const refused = Promise.withResolvers<void>()
  line.core.store.write = async (fn) => {
    if (refusals === 0) return write(fn)
    refusals -= 1
    if (refusals === 0) refused.resolve()
    throw new AppError('DATABASE_ERROR', 'full')
  }
  t.mock.timers.enable({ apis: ['setTimeout'] })
  line.delivery.finished(line.tasks.map((task) => attempted(task, 'delivered')))
  const settled = line.delivery.settled(60_000)
  await new Promise(setImmediate)
  assert.equal(line.delivery.inFlight().length, 2)
  t.mock.timers.tick(1_000)
  await refused.promise
  await new Promise(setImmediate)
  t.mock.timers.tick(1_000)
  await settled
  assert.deepEqual(await statesOf(line), ['delivered', 'delivered'])
  assert.deepEqual(line.delivery.inFlight(), [])
})

test('when the database files are removed, waiting emails are recalled and no more are claimed', async (t) => {
  const sender = await openSender(t, { watch: true })
  const file = (await sender.core.store.read.get(
    sql`select file from pragma_database_list where name = 'main'`,
  )) as { file: string }
  await sender.send()
  const delivery = createDeliverer(sender.core)
  const withdrawn = Promise.withResolvers<string>()
  sender.core.outbound.recall = withdrawn.resolve
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  while (sender.tasks.length < 1) await pause()
  sender.capacity.set('dest.test', 0)
  await sender.send()
  await unlink(`${file.file}-wal`)
  assert.equal(await withdrawn.promise, 'dest.test')
  sender.capacity.set('dest.test', 1_000)
  sender.core.queueNotifier.notify('capacity')
  await assert.rejects(sender.send(), { code: 'DATABASE_ERROR' })
  assert.equal(sender.tasks.length, 1)
})

test('sixteen results of all kinds are as many statements as four', async (t) => {
  const line = await openLine(t, 20)
  const kinds = ['delivered', 'deferred', 'relayed', 'bounced'] as const
  const results = line.tasks.map((task, index) => attempted(task, kinds[index % 4] as never))
  const record = async (some: typeof results) => {
    const texts = await statementsOf(t, async () => {
      line.delivery.finished(some)
      await line.delivery.settled(5_000)
    })
    return texts.map((text) => text.match(/^(BEGIN|COMMIT|\w+ (into )?"?\w+)/i)?.[0])
  }
  const tables = ['update emails', 'update emails', 'insert into "events', 'insert into "attempts']
  const domains = 'insert into known_domains'
  // The writer tells followers the last numbers of the tables.
  const end = ['SELECT name', 'COMMIT']
  assert.deepEqual(await record(results.slice(0, 4)), ['BEGIN', ...tables, domains, ...end])
  assert.deepEqual(await record(results.slice(4)), ['BEGIN', ...tables, ...end])
  const states = await statesOf(line)
  assert.deepEqual(
    states,
    states.map((_, index) => ['delivered', 'deferred', 'relayed', 'bounced'][index % 4]),
  )
})

test('a rendered subject that is no text does not lose its result', async (t) => {
  const line = await openLine(t, 2)
  const [first, second] = line.tasks as [never, never]
  const subject = 'cut \ud83d'
  line.delivery.finished([
    { ...attempted(first, 'delivered'), subject },
    { ...attempted(second, 'deferred'), subject },
  ])
  await line.delivery.settled(5_000)
  const subjects = await Promise.all(
    line.tasks.map(async ({ emailId }) => (await line.email(emailId)).subject),
  )
  assert.deepEqual(subjects, ['cut \ufffd', 'cut \ufffd'])
})
