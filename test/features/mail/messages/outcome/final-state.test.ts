import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import {
  type EmailTransition,
  type Settlement,
  settleAttempts,
} from '../../../../../src/features/mail/messages/outcome/final-state.ts'
import { createGiveUp } from '../../../../../src/features/mail/messages/queue/give-up.ts'
import {
  cancelEmails,
  retryEmails,
} from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { events } from '../../../../../src/store/schema/events.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

async function sendOne({ send }: Sender): Promise<string> {
  return (await send()).emails[0]?.email ?? ''
}

/** The name, email and data of every event, in order. */
async function eventsOf({ core }: Sender) {
  const rows = await core.store.read.select().from(events).orderBy(events.seq)
  return rows.map(({ name, emailId, data }) => [name, emailId, data])
}

async function suppressAda({ core, project }: Sender): Promise<void> {
  await core.store.write(async (tx) => {
    const row = { id: 's', projectId: project.id, address: 'ada@dest.test', createdAt: 1 }
    await tx.insert(suppressions).values({ ...row, reason: 'MANUAL', source: 'api' })
  })
}

/** Hands due emails to outbound; the test settles their attempts. */
async function runQueue(t: TestContext, sender: Sender) {
  // The clock of the tests never jumps: all of its time passes.
  const deliverer = createDeliverer(sender.core, () => sender.clock.now)
  const queue = startQueue(sender.core, deliverer)
  t.after(() => queue.stop())
  const settle = async (...results: Parameters<typeof deliverer.finished>[0]) => {
    deliverer.finished(results)
    await deliverer.settled(60_000)
  }
  const untilTasks = async (count: number) => {
    while (sender.tasks.length < count) await pause()
  }
  return { settle, untilTasks }
}

async function untilState(sender: Sender, id: string, state: string): Promise<void> {
  while ((await sender.email(id)).state !== state) await pause()
}

test('a cancelled email makes an event with the reason', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  await cancelEmails(sender.core, [id])
  const data = { error: 'cancelled', reason: 'cancelled' }
  assert.deepEqual(await eventsOf(sender), [['email.failed', id, data]])
})

test('an email that is given up without an attempt makes an event', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  const giveUp = createGiveUp(sender.core)
  sender.clock.now += 2 * DAY_MS
  sender.restrictions.set('dest.test', { triedAt: sender.clock.now, reason: 'refused' })
  for (let minute = 0; minute <= 10; minute += 1) await giveUp(minute * 60_000)
  const error = 'given up, its destination could not be tried in time: refused'
  assert.deepEqual(await eventsOf(sender), [['email.failed', id, { error, reason: 'given_up' }]])
  assert.equal((await sender.email(id)).error, error)
})

test('an address that is suppressed at acceptance makes one event', async (t) => {
  const sender = await openSender(t)
  await sendOne(sender)
  assert.deepEqual(await eventsOf(sender), [])
  await suppressAda(sender)
  const id = await sendOne(sender)
  const data = { atAcceptance: true }
  assert.deepEqual(await eventsOf(sender), [['email.suppressed', id, data]])
})

test('an address that is suppressed when it is claimed makes an event; no attempt counts', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  await suppressAda(sender)
  await runQueue(t, sender)
  await untilState(sender, id, 'suppressed')
  assert.deepEqual(await eventsOf(sender), [['email.suppressed', id, null]])
  const { status, attemptCount, error } = await sender.email(id)
  assert.deepEqual([status, attemptCount, error], ['SUPPRESSED', 0, null])
})

test('an email of a disabled project makes an event', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  await sender.core.store.write(async (tx) => {
    await tx.update(projects).set({ isDisabled: true }).where(eq(projects.id, sender.project.id))
  })
  sender.core.directory.drop()
  await runQueue(t, sender)
  await untilState(sender, id, 'failed')
  const data = { error: 'the project is disabled', reason: 'refused' }
  assert.deepEqual(await eventsOf(sender), [['email.failed', id, data]])
  assert.equal((await sender.email(id)).attemptCount, 0)
})

test('an internal error makes an event, a retry by hand none, and the next failure another', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  const { settle, untilTasks } = await runQueue(t, sender)
  await untilTasks(1)
  await settle(attempted(sender.tasks[0] as never, 'failed'))
  const { error } = await sender.email(id)
  const failed = ['email.failed', id, { error, reason: 'error' }]
  assert.deepEqual(await eventsOf(sender), [failed])
  await retryEmails(sender.core, [id])
  assert.deepEqual(await eventsOf(sender), [failed])
  await untilTasks(2)
  await settle(attempted(sender.tasks[1] as never, 'failed'))
  assert.deepEqual(await eventsOf(sender), [failed, failed])
})

test('an attempt that begins after the give-up time and fails makes an event', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  const { settle, untilTasks } = await runQueue(t, sender)
  await untilTasks(1)
  await settle(attempted(sender.tasks[0] as never, 'deferred'))
  assert.deepEqual(await eventsOf(sender), [])
  sender.clock.now += 30 * DAY_MS
  sender.core.queueNotifier.notify('anywhere')
  await untilTasks(2)
  await settle({ ...attempted(sender.tasks[1] as never, 'deferred'), startedAt: sender.clock.now })
  const error = 'given up; the last attempt ended with: 451 Not now'
  assert.deepEqual(await eventsOf(sender), [['email.failed', id, { error, reason: 'given_up' }]])
})

test('an email that has already left its state makes no second event', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  await cancelEmails(sender.core, [id])
  await assert.rejects(cancelEmails(sender.core, [id]), { code: 'CONFLICT' })
  assert.equal((await eventsOf(sender)).length, 1)
  const rows = await sender.core.store.read.select().from(emails)
  assert.equal(rows.length, 1)
})

for (const states of [
  ['deferred', 'delivered'],
  ['delivered', 'bounced'],
  ['bounced', 'deferred'],
] as const) {
  test(`of two outcomes of an email in a batch, ${states.join(' and ')}, the first counts`, async (t) => {
    const sender = await openSender(t)
    const id = await sendOne(sender)
    const { core, clock } = sender
    const lease = { state: 'sending', dueAt: null, leaseUntil: clock.now } as const
    await core.store.write((tx) => setEmails(tx, lease))
    const email = { ...(await sender.email(id)), isSealed: false }
    const settlements = states.map((state): Settlement => {
      return { email, subject: state, transition: transitionTo(state, clock.now) }
    })
    const isSettled = await core.store.write((tx) => settleAttempts(tx, settlements, clock.now))
    assert.deepEqual(isSettled, [true, false])
    const { state, subject } = await sender.email(id)
    assert.deepEqual([state, subject], [states[0], states[0]])
    const delivered = ['email.sent', 'email.delivery']
    const names = { deferred: [], delivered, bounced: ['email.bounce'] }
    assert.deepEqual(await sender.eventNames(), names[states[0]])
  })
}

function transitionTo(state: 'deferred' | 'delivered' | 'bounced', at: number): EmailTransition {
  const statuses = { deferred: 'PENDING', delivered: 'DELIVERED', bounced: 'BOUNCED' } as const
  return {
    ...{ state, status: statuses[state], error: null, providerId: null },
    dueAt: state === 'deferred' ? at : null,
    ...{ sentAt: null, deliveredAt: null, bouncedAt: state === 'bounced' ? at : null },
    ...(state === 'delivered' && { sentAt: at, deliveredAt: at }),
    ...{ isFailure: false, bounceType: 'Permanent', failureReason: 'error' },
  }
}
