import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS, MINUTE_MS } from '../../../../../src/base/clock.ts'
import { createGiveUp } from '../../../../../src/features/mail/messages/queue/give-up.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'

async function sendOne(sender: Sender): Promise<string> {
  const { emails: accepted } = await sender.send()
  return accepted[0]?.email as string
}

/** Restricts the site; its last failed attempt is always at the current time. */
function close(sender: Sender): void {
  const reason = 'dest.test accepts no mail now: connection refused'
  const restriction = {
    reason,
    get triedAt() {
      return sender.clock.now
    },
  }
  sender.restrictions.set('dest.test', restriction)
}

/** A process with its clock and running time, whose give-up clock runs every minute. */
function watch(sender: Sender) {
  const giveUp = createGiveUp(sender.core)
  let runningForMs = 0
  return async (minutes: number) => {
    let total = 0
    for (let minute = 0; minute < minutes; minute += 1) {
      runningForMs += MINUTE_MS
      sender.clock.now += MINUTE_MS
      total += await giveUp(runningForMs)
    }
    return total
  }
}

test('an overdue email that cannot be tried is given up after ten minutes', async (t) => {
  const sender = await openSender(t)
  close(sender)
  const id = await sendOne(sender)
  sender.clock.now += DAY_MS - 5 * MINUTE_MS
  const pass = watch(sender)
  assert.equal(await pass(14), 0)
  assert.equal(await pass(1), 1)
  const email = await sender.email(id)
  assert.deepEqual([email.state, email.status, email.dueAt], ['failed', 'FAILED', null])
  const reason = 'dest.test accepts no mail now: connection refused'
  assert.equal(email.error, `given up, its destination could not be tried in time: ${reason}`)
})

test('an email that can be tried is never given up without an attempt, however late', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  sender.clock.now += 3 * DAY_MS
  assert.equal(await watch(sender)(60), 0)
  assert.equal((await sender.email(id)).state, 'queued')
})

test('after a jump of the clock, an unreachable site is tried again before its mail is given up', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  const reason = 'dest.test accepts no mail now: connection refused'
  sender.restrictions.set('dest.test', { triedAt: sender.clock.now, reason })
  sender.clock.now += 3 * DAY_MS
  const pass = watch(sender)
  assert.equal(await pass(40), 0)
  assert.equal((await sender.email(id)).state, 'queued')
  sender.restrictions.set('dest.test', { triedAt: sender.clock.now, reason })
  assert.equal(await pass(1), 1)
})

test('the last reply stays in the error', async (t) => {
  const sender = await openSender(t)
  const id = await sendOne(sender)
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, { state: 'deferred', error: '451 Not now', attemptCount: 3 })
  })
  close(sender)
  sender.clock.now += 2 * DAY_MS
  await watch(sender)(11)
  assert.equal((await sender.email(id)).error, 'given up; the last attempt ended with: 451 Not now')
})

test('after the server was off, mail has ten minutes to be tried', async (t) => {
  const sender = await openSender(t)
  close(sender)
  await sendOne(sender)
  sender.clock.now += 3 * DAY_MS
  const pass = watch(sender)
  assert.equal(await pass(10), 0)
  assert.equal(await pass(1), 1)
})

test('a jump of the clock gives up no mail for ten minutes, and none if the clock is set right', async (t) => {
  const sender = await openSender(t)
  close(sender)
  const id = await sendOne(sender)
  const pass = watch(sender)
  assert.equal(await pass(30), 0)
  sender.clock.now += 3 * DAY_MS
  assert.equal(await pass(9), 0)
  sender.clock.now -= 3 * DAY_MS
  assert.equal(await pass(30), 0)
  assert.equal((await sender.email(id)).state, 'queued')
})

test('held, leased and finished mail is not given up', async (t) => {
  const sender = await openSender(t)
  close(sender)
  const ids = [await sendOne(sender), await sendOne(sender), await sendOne(sender)]
  const states = ['held', 'sending', 'delivered'] as const
  await sender.core.store.write(async (tx) => {
    for (const [index, state] of states.entries()) {
      const set = { state, dueAt: null }
      await setEmails(tx, set, eq(emails.id, ids[index] as string))
    }
  })
  sender.clock.now += 3 * DAY_MS
  assert.equal(await watch(sender)(15), 0)
})

test('many emails are given up in one run', async (t) => {
  const sender = await openSender(t)
  close(sender)
  const { emails: accepted } = await sender.send()
  const row = await sender.email(accepted[0]?.email as string)
  await sender.core.store.write(async (tx) => {
    const copies = Array.from({ length: 1_100 }, (_, index) => ({
      ...row,
      id: `${row.id}-${index}`,
    }))
    for (let from = 0; from < copies.length; from += 100) {
      await tx.insert(emails).values(copies.slice(from, from + 100))
    }
  })
  sender.clock.now += 2 * DAY_MS
  assert.equal(await watch(sender)(11), 1_101)
})
