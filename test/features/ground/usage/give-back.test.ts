import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { monthOf } from '../../../../src/features/ground/usage/month.ts'
import { endEmails } from '../../../../src/features/mail/messages/outcome/end-emails.ts'
import { recordReports } from '../../../../src/features/mail/messages/outcome/record-reports.ts'
import type { EmailReport } from '../../../../src/features/mail/messages/outcome/reported-email.ts'
import { cancelEmails, retryEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import type { ReplyVerdict } from '../../../../src/formats/replies/reply.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { usageMonths } from '../../../../src/store/schema/billing.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { emails } from '../../../../src/store/schema/messages.ts'
import { newProjectHours } from '../../../../src/store/schema/reputation.ts'
import { START, type TestCore } from '../../../core.ts'
import {
  assertExact,
  follow,
  NOTHING,
  openLimited,
  setColumns,
  suppressAll,
  useOf,
} from './usage.ts'

const MONTH_END = Date.UTC(2026, 11, 1)

const transactional = async (core: TestCore, projectId: string, at?: number) =>
  (await useOf(core, projectId, at)).transactional

describe('what failed', () => {
  it('is given back once, in the month in which it was accepted', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 3 })
    const [first, second] = await send(3)
    assert.ok(first && second)
    core.clock.now = MONTH_END
    await send(2)
    await cancelEmails(core, [first.id, second.id])
    await follow(core)
    await follow(core)
    assert.equal(await transactional(core, project.id, START), 1)
    assert.equal(await transactional(core, project.id), 2)
  })

  it('makes room at once', async (t) => {
    const { core, send } = await openLimited(t, { limitTransactional: 1 })
    const [email] = await send(1)
    assert.ok(email)
    await assert.rejects(send(1), { code: 'BILLING_LIMIT_EXCEEDED' })
    await cancelEmails(core, [email.id])
    await follow(core)
    await send(1)
  })

  it('is given back although its contact was deleted before', async (t) => {
    const { core, project, send } = await openLimited(t)
    const [email] = await send(2)
    assert.ok(email)
    await cancelEmails(core, [email.id])
    await core.store.write((tx) => tx.delete(contacts).run())
    await follow(core)
    assert.equal(await transactional(core, project.id), 1)
  })

  it('counts again when it is tried again, and is given back when it fails again', async (t) => {
    const { core, project, send } = await openLimited(t)
    const [email] = await send(1)
    assert.ok(email)
    await cancelEmails(core, [email.id])
    await retryEmails(core, [email.id])
    assert.equal(await transactional(core, project.id), 2)
    await follow(core)
    assert.equal(await transactional(core, project.id), 1)
    await retryEmails(core, [email.id])
    assert.equal(await transactional(core, project.id), 1)
    await cancelEmails(core, [email.id])
    await follow(core)
    assert.equal(await transactional(core, project.id), 0)
  })

  it('cannot be tried again over the limit, except by an operator', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 1 })
    const [email] = await send(1)
    assert.ok(email)
    await cancelEmails(core, [email.id])
    await follow(core)
    await send(1)
    await assert.rejects(retryEmails(core, [email.id]), { code: 'BILLING_LIMIT_EXCEEDED' })
    assert.equal(await transactional(core, project.id), 1)
    await retryEmails(core, [email.id], { isOperator: true })
    assert.equal(await transactional(core, project.id), 2)
  })

  it('counts again when a report proves that it was sent', async (t) => {
    const { core, project, send } = await openLimited(t)
    const accepted = await send(2)
    await cancelEmails(
      core,
      accepted.map(({ id }) => id),
    )
    await follow(core)
    assert.equal(await transactional(core, project.id), 0)
    const verdict: ReplyVerdict = {
      ...{ isFinal: true, class: 'hard', reason: 'userunknown', isHard: true, isStrike: false },
      ...{ retryAfterMs: null, site: 'none', countsAsFailure: true },
    }
    const [bounced, complained] = accepted
    const reports: EmailReport[] = [
      { type: 'bounce', emailId: bounced?.id ?? '', verdict, diagnostic: '550' },
      { type: 'complaint', emailId: complained?.id ?? '', feedbackType: 'abuse' },
    ]
    await core.store.write((tx) => recordReports(core, tx, reports))
    await core.store.write((tx) => recordReports(core, tx, reports))
    await follow(core)
    assert.equal(await transactional(core, project.id), 2)
  })

  it('does not touch a month that was not counted', async (t) => {
    const { core, project, send } = await openLimited(t)
    const [email] = await send(1)
    assert.ok(email)
    await core.store.write(async (tx) => {
      await tx.delete(usageMonths)
      await tx.update(emails).set({ createdAt: Date.UTC(2026, 9, 3) })
    })
    await cancelEmails(core, [email.id])
    await follow(core)
    await retryEmails(core, [email.id])
    assert.deepEqual(await core.store.read.select().from(usageMonths), [])
    assert.deepEqual(await useOf(core, project.id), NOTHING)
  })
})

describe('an address that is suppressed already', () => {
  it('is not counted, not refused and not given back', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 3 })
    await suppressAll(core, project.id, ['r2@people.test', 'r3@people.test', 'r6@people.test'])
    await send(5)
    assert.equal(await transactional(core, project.id), 3)
    await send(1)
    await assert.rejects(send(1), { code: 'BILLING_LIMIT_EXCEEDED' })
    await assertExact(core, project.id, { transactional: 3 })
    assert.equal(await core.store.read.$count(emails), 6)
  })

  it('is not counted although a limit was lowered below the use', async (t) => {
    const { core, project, send } = await openLimited(t, { limitTransactional: 3 })
    await send(3)
    await setColumns(core, project.id, { limitTransactional: 1 })
    await suppressAll(core, project.id, ['r4@people.test'])
    await send(1)
    await assertExact(core, project.id, { transactional: 3 })
  })

  it('is not given back when its contact was deleted before the event was read', async (t) => {
    const { core, project, send } = await openLimited(t)
    await suppressAll(core, project.id, ['r1@people.test'])
    await send(3)
    const isGone = sql`email in ('r1@people.test', 'r2@people.test')`
    await core.store.write((tx) => tx.delete(contacts).where(isGone).run())
    await follow(core)
    assert.equal(await transactional(core, project.id), 2)
  })

  it('is given back if it is suppressed after the acceptance, in the same millisecond', async (t) => {
    const { core, project, send } = await openLimited(t)
    const [accepted] = await send(2)
    const email = await core.store.read.select().from(emails).limit(1).get()
    assert.ok(accepted && email)
    const end = { state: 'suppressed' } as const
    await core.store.write((tx) =>
      endEmails(core, tx, { endings: [{ email, end }], at: email.createdAt }),
    )
    await assertExact(core, project.id, { transactional: 1 })
  })

  it('does not count for a new project either', async (t) => {
    const settings = { PILLARBOX_LIMITS__NEW_PROJECT_DAILY: '2' }
    const { core, project, send } = await openLimited(t, {}, { settings })
    await suppressAll(core, project.id, ['r1@people.test', 'r4@people.test'])
    await send(3)
    await send(1)
    await assert.rejects(send(1), { code: 'RATE_LIMIT_EXCEEDED' })
    const rows = await core.store.read.select().from(newProjectHours)
    assert.deepEqual(
      rows.map(({ emails: count }) => count),
      [2],
    )
  })
})

describe('the month of an instant', () => {
  it('is that of UTC', () => {
    assert.equal(monthOf(Date.UTC(2026, 10, 30, 23, 59, 59, 999)), Date.UTC(2026, 10, 1))
    assert.equal(monthOf(Date.UTC(2026, 11, 1)), Date.UTC(2026, 11, 1))
    assert.equal(monthOf(Date.UTC(2028, 1, 29, 12)), Date.UTC(2028, 1, 1))
  })
})
