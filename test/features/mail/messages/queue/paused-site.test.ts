import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { HOUR_MS } from '../../../../../src/base/clock.ts'
import type { Core } from '../../../../../src/core/core.ts'
import {
  createDeliverer,
  type Deliverer,
} from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { loadEmailHistory } from '../../../../../src/features/mail/messages/explain/email-history.ts'
import { deferLane } from '../../../../../src/features/mail/messages/queue/put-back.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import type { DeliveryResult } from '../../../../../src/outbound/delivery.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { type Email, emails } from '../../../../../src/store/schema/messages.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { address, START } from '../../../../core.ts'
import { pause } from '../../../../pause.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

const refusedSite = {
  until: START + HOUR_MS,
  reason: 'dest.test accepts no mail now: connection refused',
}

type Line = Sender & { delivery: Deliverer; untilDeferred(id: string): Promise<Email> }

/** A core that records the due times from which its queue reads lanes of paused sites. */
function recordReads(core: Core, reads: number[]): Core {
  const { store } = core
  const watched = (tx: Tx) =>
    new Proxy(tx, {
      get: (_target, name) => (query: unknown, given: { from: number }) => {
        if (name === 'list' && query === deferLane) reads.push(given.from)
        return Reflect.apply(Reflect.get(tx, name) as () => unknown, tx, [query, given])
      },
    })
  const write: Core['store']['write'] = (fn) => store.write((tx) => fn(watched(tx)))
  return { ...core, store: { ...store, write } }
}

async function openLine(t: TestContext, reads: number[] = []): Promise<Line> {
  const sender = await openSender(t)
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(recordReads(sender.core, reads), delivery)
  t.after(() => queue.stop())
  const untilDeferred = async (id: string) => {
    for (;;) {
      const email = await sender.email(id)
      if (email.state === 'deferred') return email
      await new Promise((resolve) => setImmediate(resolve))
    }
  }
  return { ...sender, delivery, untilDeferred }
}

async function sendTo(sender: Sender, to: string): Promise<string> {
  const { emails: accepted } = await sender.send({ to: [{ address: address(to), name: null }] })
  return accepted[0]?.email as string
}

test('mail for a paused site is deferred with the reason, without an attempt', async (t) => {
  const line = await openLine(t)
  line.pauses.set('dest.test', refusedSite)
  const id = await sendTo(line, 'ada@dest.test')
  const email = await line.untilDeferred(id)
  assert.equal(email.status, 'PENDING')
  assert.equal(email.error, refusedSite.reason)
  assert.equal(email.attemptCount, 0)
  assert.equal(email.dueAt, START)
  assert.deepEqual((await loadEmailHistory(line.core, id)).attempts, [])
  assert.deepEqual(line.tasks, [])
})

test('mail for a paused site is sent as soon as an operator lifts the pause', async (t) => {
  const line = await openLine(t)
  line.pauses.set('dest.test', refusedSite)
  const id = await sendTo(line, 'ada@dest.test')
  await line.untilDeferred(id)
  line.pauses.clear()
  line.core.queueNotifier.notify('anywhere')
  while (line.tasks.length === 0) await pause()
  assert.equal(line.tasks[0]?.emailId, id)
})

test('in the backlog of a paused site only new mail is read', async (t) => {
  const reads: number[] = []
  const line = await openLine(t, reads)
  line.pauses.set('dest.test', refusedSite)
  await line.untilDeferred(await sendTo(line, 'ada@dest.test'))
  line.clock.now = START + 1_000
  await line.untilDeferred(await sendTo(line, 'eve@dest.test'))
  assert.deepEqual(reads, [START, START + 1_000])
})

test('at most 500 reasons are written at once, for any number of paused sites', async (t) => {
  const sender = await openSender(t)
  for (const domain of ['one.test', 'two.test', 'three.test']) {
    sender.pauses.set(domain, refusedSite)
    sender.capacity.set(domain, 0)
    const to = Array.from({ length: 400 }, (_, at) => address(`a${at}@${domain}`))
    await sender.send({ to: to.map((given) => ({ address: given, name: null })) })
  }
  const counts: number[] = []
  const deferred = () => sender.core.store.read.$count(emails, eq(emails.state, 'deferred'))
  const queue = startQueue(sender.core, createDeliverer(sender.core))
  t.after(() => queue.stop())
  while (counts.at(-1) !== 1_200) {
    const count = await deferred()
    if (count !== (counts.at(-1) ?? 0)) counts.push(count)
    await new Promise((resolve) => setImmediate(resolve))
  }
  const steps = counts.map((count, index) => count - (counts[index - 1] ?? 0))
  assert.ok(Math.max(...steps) <= 500, `${steps}`)
})

test('the reason is written once, and not again with the next pause of the site', async (t) => {
  const line = await openLine(t)
  line.pauses.set('dest.test', refusedSite)
  const id = await sendTo(line, 'ada@dest.test')
  const before = await line.untilDeferred(id)
  line.clock.now = refusedSite.until + 1
  line.pauses.set('dest.test', { until: refusedSite.until + HOUR_MS, reason: 'dest.test is gone' })
  const later = await sendTo(line, 'eve@dest.test')
  assert.equal((await line.untilDeferred(later)).error, 'dest.test is gone')
  assert.deepEqual(await line.email(id), before)
})

test('an email that is put back because its site is paused has the reason and counts no attempt', async (t) => {
  const line = await openLine(t)
  const report = (emailId: string): DeliveryResult => ({
    emailId,
    kind: 'put back',
    site: 'mx.test',
    retryAt: START + HOUR_MS,
    reason: 'mx.test accepts no mail now: 421 4.7.0 go away',
  })
  line.core.outbound.deliver = (tasks) => {
    line.tasks.push(...tasks)
    line.delivery.finished(tasks.map(({ emailId }) => report(emailId)))
  }
  const id = await sendTo(line, 'ada@dest.test')
  const email = await line.untilDeferred(id)
  assert.equal(email.error, 'mx.test accepts no mail now: 421 4.7.0 go away')
  assert.equal(email.attemptCount, 0)
  assert.equal(email.dueAt, START + HOUR_MS)
  assert.deepEqual((await loadEmailHistory(line.core, id)).attempts, [])
})

test('the reply to an email is not replaced by the reason of its site', async (t) => {
  const line = await openLine(t)
  let isTried = false
  line.core.outbound.deliver = (tasks) => {
    line.tasks.push(...tasks)
    const [task] = tasks
    if (task === undefined) return
    const { emailId } = task
    const returned = {
      emailId,
      kind: 'put back',
      site: 'x',
      retryAt: null,
      reason: 'dead',
    } as const
    line.delivery.finished([isTried ? returned : attempted(task, 'deferred')])
    isTried = true
  }
  const id = await sendTo(line, 'ada@dest.test')
  const { error } = await line.untilDeferred(id)
  assert.equal(error, '451 Not now')
  line.clock.now = START + HOUR_MS
  line.pauses.set('dest.test', { until: START + 2 * HOUR_MS, reason: 'dead' })
  line.core.queueNotifier.notify('anywhere')
  await line.delivery.settled(5_000)
  const email = await line.email(id)
  assert.deepEqual([email.error, email.attemptCount], [error, 1])
})
