import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createGiveUp } from '../../../../src/features/messages/queue/give-up.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { type Desk, openDesk } from '../desk.ts'

const MINUTE = 60_000
const DAY = 86_400_000

async function sendOne(desk: Desk): Promise<string> {
  const { emails: accepted } = await desk.send()
  return accepted[0]?.email as string
}

/** From now on every attempt shows that the site takes nothing. */
function close(desk: Desk): void {
  const reason = 'dest.test takes no mail now: connection refused'
  const restriction = {
    reason,
    get triedAt() {
      return desk.clock.now
    },
  }
  desk.restrictions.set('dest.test', restriction)
}

/** A process that has its clock and its running time, and looks every minute. */
function watch(desk: Desk) {
  const giveUp = createGiveUp(desk.core)
  let runningForMs = 0
  return async (minutes: number) => {
    let total = 0
    for (let minute = 0; minute < minutes; minute += 1) {
      runningForMs += MINUTE
      desk.clock.now += MINUTE
      total += await giveUp(runningForMs)
    }
    return total
  }
}

test('what cannot be tried past its time is given up after ten minutes', async (t) => {
  const desk = await openDesk(t)
  close(desk)
  const id = await sendOne(desk)
  desk.clock.now += DAY - 5 * MINUTE
  const pass = watch(desk)
  assert.equal(await pass(14), 0)
  assert.equal(await pass(1), 1)
  const email = await desk.email(id)
  assert.deepEqual([email.state, email.status, email.dueAt], ['failed', 'FAILED', null])
  const reason = 'dest.test takes no mail now: connection refused'
  assert.equal(email.error, `given up, its destination could not be tried in time: ${reason}`)
})

test('what can be tried is never given up without that, however late it is', async (t) => {
  const desk = await openDesk(t)
  const id = await sendOne(desk)
  desk.clock.now += 3 * DAY
  assert.equal(await watch(desk)(60), 0)
  assert.equal((await desk.email(id)).state, 'queued')
})

test('after a jump of the clock a dead site is tried again before its mail is given up', async (t) => {
  const desk = await openDesk(t)
  const id = await sendOne(desk)
  const reason = 'dest.test takes no mail now: connection refused'
  desk.restrictions.set('dest.test', { triedAt: desk.clock.now, reason })
  desk.clock.now += 3 * DAY
  const pass = watch(desk)
  assert.equal(await pass(40), 0)
  assert.equal((await desk.email(id)).state, 'queued')
  desk.restrictions.set('dest.test', { triedAt: desk.clock.now, reason })
  assert.equal(await pass(1), 1)
})

test('the last answer stays readable', async (t) => {
  const desk = await openDesk(t)
  const id = await sendOne(desk)
  await desk.core.store.write(async (tx) => {
    await tx.update(emails).set({ state: 'deferred', error: '451 Not now', attemptCount: 3 })
  })
  close(desk)
  desk.clock.now += 2 * DAY
  await watch(desk)(11)
  assert.equal((await desk.email(id)).error, 'given up; the last answer was: 451 Not now')
})

test('after a time of being off, mail has ten minutes to be tried', async (t) => {
  const desk = await openDesk(t)
  close(desk)
  await sendOne(desk)
  desk.clock.now += 3 * DAY
  const pass = watch(desk)
  assert.equal(await pass(10), 0)
  assert.equal(await pass(1), 1)
})

test('a clock that jumps gives nothing up for ten minutes, and forgets it when set right', async (t) => {
  const desk = await openDesk(t)
  close(desk)
  const id = await sendOne(desk)
  const pass = watch(desk)
  assert.equal(await pass(30), 0)
  desk.clock.now += 3 * DAY
  assert.equal(await pass(9), 0)
  desk.clock.now -= 3 * DAY
  assert.equal(await pass(30), 0)
  assert.equal((await desk.email(id)).state, 'queued')
})

test('what is held, being sent or done is not given up', async (t) => {
  const desk = await openDesk(t)
  close(desk)
  const ids = [await sendOne(desk), await sendOne(desk), await sendOne(desk)]
  const states = ['held', 'sending', 'delivered'] as const
  await desk.core.store.write(async (tx) => {
    for (const [index, state] of states.entries()) {
      const set = { state, dueAt: null }
      await tx
        .update(emails)
        .set(set)
        .where(eq(emails.id, ids[index] as string))
    }
  })
  desk.clock.now += 3 * DAY
  assert.equal(await watch(desk)(15), 0)
})

test('many are given up in one look', async (t) => {
  const desk = await openDesk(t)
  close(desk)
  const { emails: accepted } = await desk.send()
  const row = await desk.email(accepted[0]?.email as string)
  await desk.core.store.write(async (tx) => {
    for (let index = 0; index < 1_100; index += 1) {
      await tx.insert(emails).values({ ...row, id: `${row.id}-${index}` })
    }
  })
  desk.clock.now += 2 * DAY
  assert.equal(await watch(desk)(11), 1_101)
})
