import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../src/errors.ts'
import { createDelivery, type Delivery } from '../../../src/features/messages/deliver.ts'
import { startQueue } from '../../../src/features/messages/queue.ts'
import { events } from '../../../src/store/schema.ts'
import { address, attempted, type Desk, openDesk, START } from './desk.ts'

type Line = Desk & {
  delivery: Delivery
  /** Calls of `store.write` since the emails were handed over. */
  writes: () => number
}

/** So many emails, handed over and waiting for their reports. */
async function openLine(t: TestContext, count: number): Promise<Line> {
  const desk = await openDesk(t)
  const to = Array.from({ length: count }, (_, index) => `user${index}@dest.test`)
  await desk.send({ to: to.map((text) => ({ address: address(text), name: null })) })
  const { promise: handed, resolve } = Promise.withResolvers<void>()
  const { deliver } = desk.core.outbound
  desk.core.outbound.deliver = (tasks) => {
    deliver(tasks)
    resolve()
  }
  const delivery = createDelivery(desk.core)
  const queue = startQueue(desk.core, delivery)
  t.after(() => queue.stop())
  await handed
  assert.equal(desk.tasks.length, count)
  desk.capacity.set('dest.test', 0)
  const write = t.mock.method(desk.core.store, 'write')
  return { ...desk, delivery, writes: () => write.mock.callCount() }
}

async function statesOf({ email, tasks }: Desk): Promise<string[]> {
  return Promise.all(tasks.map(async ({ emailId }) => (await email(emailId)).state))
}

test('outcomes of every kind that come together are one write', async (t) => {
  const line = await openLine(t, 6)
  const kinds = ['delivered', 'hard', 'delivered', 'deferred', 'relayed'] as const
  const reports = kinds.map((kind, index) => attempted(line.tasks[index] as never, kind))
  const returned = { emailId: line.tasks[5]?.emailId as string, kind: 'returned' } as const
  line.delivery.report([...reports, { ...returned, site: 'x', retryAt: START + 60_000 }])
  await line.delivery.settled(5_000)
  assert.equal(line.writes(), 1)
  const states = ['delivered', 'bounced', 'delivered', 'deferred', 'relayed', 'queued']
  assert.deepEqual(await statesOf(line), states)
  assert.deepEqual(line.delivery.inHand(), [])
})

test('of each email sent comes before delivery, in the order of the reports', async (t) => {
  const line = await openLine(t, 3)
  line.delivery.report(line.tasks.map((task) => attempted(task, 'delivered')))
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

test('a report that cannot be written loses no other', async (t) => {
  const line = await openLine(t, 3)
  const broken = { steps: [{ step: 'mail', at: 1n, durationMs: 1 }] } as never
  const reports = line.tasks.map((task, index) =>
    attempted(task, 'delivered', index === 1 ? broken : {}),
  )
  line.delivery.report(reports)
  await line.delivery.settled(5_000)
  assert.deepEqual(await statesOf(line), ['delivered', 'sending', 'delivered'])
  assert.deepEqual(line.delivery.inHand(), [])
})

test('F3: reports are kept while the database takes no writes, and recorded once it does', async (t) => {
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
  line.delivery.report(line.tasks.map((task) => attempted(task, 'delivered')))
  const settled = line.delivery.settled(60_000)
  await new Promise(setImmediate)
  assert.equal(line.delivery.inHand().length, 2)
  t.mock.timers.tick(1_000)
  await refused.promise
  await new Promise(setImmediate)
  t.mock.timers.tick(1_000)
  await settled
  assert.deepEqual(await statesOf(line), ['delivered', 'delivered'])
  assert.deepEqual(line.delivery.inHand(), [])
})
