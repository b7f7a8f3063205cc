import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  explainEmails,
  type FindLiveState,
  findLiveStateForProject,
} from '../../../../../src/features/mail/messages/explain/explain-emails.ts'
import type { Explanation } from '../../../../../src/features/mail/messages/explain/facts.ts'
import { createThrottle } from '../../../../../src/features/mail/messages/queue/throttle.ts'
import type { SiteStatus } from '../../../../../src/outbound/sites/site-status.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { attempts, type Email, emails } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { START } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'

async function add(sender: Sender, change: Partial<Email>): Promise<Email> {
  const id = (await sender.send()).emails[0]?.email ?? ''
  await sender.core.store.write((tx) => setEmails(tx, change, eq(emails.id, id)))
  return sender.email(id)
}

const noOne: FindLiveState = async () => assert.fail('nobody is asked')

test('finished mail is explained from the database alone', async (t) => {
  const sender = await openSender(t)
  const ended = { dueAt: null, updatedAt: START } as const
  const bounced = await add(sender, {
    ...ended,
    state: 'bounced',
    bouncedAt: START,
    attemptCount: 2,
  })
  const suppressed = await add(sender, { ...ended, state: 'suppressed' })
  const attempt = { emailId: bounced.id, durationMs: 1, steps: [], host: 'mx.dest.test' }
  await sender.core.store.write(async (tx) => {
    const words = [
      { at: START, result: 'deferred', replyCode: 451, replyText: 'later' },
      { at: START, result: 'bounced', replyCode: 550, replyText: 'never' },
      { at: START, result: 'reported-complaint', error: 'complaint (abuse)' },
    ]
    for (const word of words) await tx.insert(attempts).values({ ...attempt, ...word })
    await tx.insert(suppressions).values({
      ...{ id: 's', projectId: sender.project.id, address: 'ada@dest.test', reason: 'MANUAL' },
      ...{ source: 'API', createdAt: START },
    })
  })
  const explained = await explainEmails(sender.core, [bounced, suppressed], noOne)
  const reasonOf = (email: Email) => (explained.get(email.id) as Explanation).reason
  assert.match(
    reasonOf(bounced),
    /^It was refused by mx\.dest\.test at .*Z: 550 never\. The address has been on/,
  )
  assert.match(
    reasonOf(suppressed),
    /has been on the suppression list since .*Z \(MANUAL: API\)\. To reach the address, remove it/,
  )
})

test('one question to the server covers all waiting mail and the mail ahead of it', async (t) => {
  const sender = await openSender(t)
  const lease = { leaseUntil: START + 1, dueAt: null } as const
  const sending = await add(sender, { ...lease, state: 'sending', attemptCount: 1 })
  const waits = await add(sender, { dueAt: START })
  const later = await add(sender, { dueAt: START + 60_000 })
  const asked: unknown[] = []
  const explained = await explainEmails(sender.core, [waits, later], async (question) => {
    asked.push(question)
    return { server: 'silent' }
  })
  assert.deepEqual(asked, [
    { domains: ['dest.test'], projectIds: [sender.project.id], emailIds: [sending.id] },
  ])
  assert.equal(
    explained.get(waits.id)?.reason,
    'It is due now; the server did not answer, so no more is known.',
  )
  assert.equal(explained.get(later.id)?.nextAttemptAt, START + 60_000)
})

test("the API shows a back-off to a project without the reply to another project's mail", async (t) => {
  const sender = await openSender(t)
  const waits = await add(sender, { dueAt: START })
  const status: SiteStatus = {
    ...{
      site: 'dest.test',
      connections: 0,
      maxConnections: 1,
      limited: null,
      inFlight: 0,
      rateUntil: null,
    },
    ...{ messagesPerMinute: null, restrictedSince: START, blockedUntil: START + 60_000 },
    cause: { at: START, text: '450 <secret@dest.test> slow down' },
  }
  const outbound = { sites: () => [status], siteOf: (site: string) => site }
  Object.assign(outbound, {
    capacity: () => 0,
    projectCapacity: () => 0,
    lacksConnection: () => true,
  })
  const deps = { outbound, throttle: createThrottle(0, sender.core.now) } as never
  const explained = await explainEmails(sender.core, [waits], findLiveStateForProject(deps))
  const reason = explained.get(waits.id)?.reason ?? ''
  assert.match(reason, /^Nothing is sent to dest\.test until 2026-11-21 12:01:00Z/)
  assert.doesNotMatch(reason, /secret/)
})
