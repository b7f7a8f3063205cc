import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { createLog } from '../../../../../src/base/log.ts'
import type { CounterName } from '../../../../../src/base/metric-texts.ts'
import { createAcceptQueue } from '../../../../../src/features/mail/messages/accept/accept-queue.ts'
import { createDeliverer } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { recordReports } from '../../../../../src/features/mail/messages/outcome/record-reports.ts'
import { createGiveUp } from '../../../../../src/features/mail/messages/queue/give-up.ts'
import { cancelEmails } from '../../../../../src/features/mail/messages/queue/operate.ts'
import { startQueue } from '../../../../../src/features/mail/messages/queue/queue.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { suppressions } from '../../../../../src/store/schema/suppressions.ts'
import { address } from '../../../../core.ts'
import { countedLines } from '../../../../counted-lines.ts'
import { pause } from '../../../../pause.ts'
import { setEmails } from '../../../../set-emails.ts'
import { attempted, openSender, type Sender } from '../sender.ts'

type Entry = Record<string, unknown>

/** A sender, and its log lines about emails without their time. */
async function openLogged(t: TestContext) {
  const sender = await openSender(t)
  const entries: Entry[] = []
  sender.core.log = createLog('info', {
    write: (line: string) => {
      const { time: _, ...entry } = JSON.parse(line)
      if (String(entry.msg).startsWith('email ')) entries.push(entry)
    },
  })
  sender.core.acceptQueue = createAcceptQueue(sender.core)
  const count = (name: CounterName) =>
    countedLines(sender.core, name).map(({ labels, count: sum }) =>
      [...Object.values(labels), sum].join(' '),
    )
  return { ...sender, entries, count }
}

/** The same, after mail to these recipients was handed to outbound. */
async function openLine(t: TestContext, recipients: readonly string[]) {
  const sender = await openLogged(t)
  await sender.send({ to: recipients.map((text) => ({ address: address(text), name: null })) })
  const delivery = createDeliverer(sender.core)
  const queue = startQueue(sender.core, delivery)
  t.after(() => queue.stop())
  while (sender.tasks.length < recipients.length) await pause()
  const report = async (...reports: Parameters<typeof delivery.finished>[0]) => {
    delivery.finished(reports)
    await delivery.settled(60_000)
  }
  return { ...sender, queue, report }
}

async function sendOne({ send }: Sender): Promise<string> {
  return (await send()).emails[0]?.email ?? ''
}

test('a final outcome is one line with the fields that a search needs', async (t) => {
  const { tasks, report, project, entries, count } = await openLine(t, ['alice@dest.test'])
  const [task] = tasks
  assert.ok(task)
  const reply = { code: 550, enhancedCode: '5.1.1', text: 'no mailbox alice@dest.test here' }
  await report(attempted(task, 'hard', { reply, durationMs: 12.6 }))
  assert.deepEqual(entries, [
    {
      level: 'info',
      emailId: task.emailId,
      projectId: project.id,
      to: 'a…@dest.test',
      site: 'dest.test',
      class: 'hard',
      code: '550 5.1.1',
      attempts: 1,
      durationMs: 13,
      reason: '550 5.1.1 no mailbox a…@dest.test here',
      msg: 'email bounced',
    },
  ])
  assert.deepEqual(count('pillarbox_email_outcomes_total'), ['bounced hard 1'])
  assert.deepEqual(count('pillarbox_bounces_total'), ['session hard 1'])
})

test('each outcome of a batch is one line and one count', async (t) => {
  const to = ['a@dest.test', 'b@dest.test', 'c@dest.test', 'd@dest.test']
  const { tasks, report, entries, count } = await openLine(t, to)
  const kinds = ['delivered', 'relayed', 'failed', 'deferred'] as const
  await report(...kinds.map((kind, index) => attempted(tasks[index] as never, kind)))
  assert.deepEqual(
    entries.map(({ msg, attempts }) => [msg, attempts]),
    kinds.map((kind) => [`email ${kind}`, 1]),
  )
  assert.equal(count('pillarbox_email_outcomes_total').length, 3)
  assert.deepEqual(count('pillarbox_email_deferrals_total'), ['unknown 1'])
})

test('only the first deferral of an email is logged; all are counted', async (t) => {
  const sender = await openLine(t, ['a@dest.test'])
  await sender.report(attempted(sender.tasks[0] as never, 'deferred'))
  sender.clock.now += 3_600_000
  sender.core.queueNotifier.notify('anywhere')
  while (sender.tasks.length < 2) await pause()
  await sender.report(attempted(sender.tasks[1] as never, 'deferred'))
  assert.deepEqual(
    sender.entries.map(({ msg, reason }) => [msg, reason]),
    [['email deferred', '451 Not now']],
  )
  assert.deepEqual(sender.count('pillarbox_email_deferrals_total'), ['unknown 2'])
})

test('an outcome that is not durable is neither logged nor counted', async (t) => {
  const { core, tasks, report, entries, count } = await openLine(t, ['a@dest.test', 'b@dest.test'])
  const broken = { steps: [{ step: 'mail', at: 1n, durationMs: 1 }] } as never
  await report(
    attempted(tasks[0] as never, 'delivered', broken),
    attempted(tasks[1] as never, 'delivered'),
  )
  assert.deepEqual(
    entries.map(({ emailId }) => emailId),
    [tasks[1]?.emailId],
  )
  assert.deepEqual(count('pillarbox_email_outcomes_total').length, 1)
  assert.equal((await core.store.read.select().from(emails).all()).length, 2)
})

test('a cancelled, given up or suppressed email is logged', async (t) => {
  const sender = await openLogged(t)
  const cancelled = await sendOne(sender)
  await cancelEmails(sender.core, [cancelled])
  const late = await sendOne(sender)
  const giveUp = createGiveUp(sender.core)
  sender.clock.now += 2 * 86_400_000
  sender.restrictions.set('dest.test', {
    triedAt: sender.clock.now,
    reason: 'connect ECONNREFUSED',
  })
  for (let minute = 0; minute <= 10; minute += 1) await giveUp(minute * 60_000)
  await sender.core.store.write(async (tx) => {
    await tx.insert(suppressions).values({
      id: 's',
      projectId: sender.project.id,
      address: 'ada@dest.test',
      reason: 'MANUAL',
      source: 'api',
      createdAt: sender.core.now(),
    })
  })
  const suppressed = await sendOne(sender)
  assert.deepEqual(
    sender.entries.map(({ msg, emailId, reason }) => [msg, emailId, reason]),
    [
      ['email failed', cancelled, 'cancelled'],
      [
        'email failed',
        late,
        'given up, its destination could not be tried in time: connect ECONNREFUSED',
      ],
      ['email suppressed', suppressed, undefined],
    ],
  )
  const outcomes = ['failed none 2', 'suppressed none 1']
  assert.deepEqual(sender.count('pillarbox_email_outcomes_total'), outcomes)
})

test('a later bounce or complaint is logged once', async (t) => {
  const sender = await openLogged(t)
  const { store } = sender.core
  const [bounced, complained] = [await sendOne(sender), await sendOne(sender)]
  await store.write((tx) => setEmails(tx, { state: 'delivered', sentAt: 1 }))
  const verdict = { class: 'quota', isHard: false, isStrike: false, reason: 'mailboxfull' } as never
  const diagnostic = '552 5.2.2 ada@dest.test is over quota'
  const facts = { reply: null, diagnostic, reportingMta: null, verdict }
  const reports = [
    { type: 'bounce', emailId: bounced, ...facts } as const,
    { type: 'complaint', emailId: complained, feedbackType: 'abuse' } as const,
  ]
  await store.write((tx) => recordReports(sender.core, tx, reports))
  await store.write((tx) => recordReports(sender.core, tx, reports))
  assert.deepEqual(
    sender.entries.map(({ msg, emailId, reason, to }) => [msg, emailId, reason, to]),
    [
      ['email bounced', bounced, '552 5.2.2 a…@dest.test is over quota', 'a…@dest.test'],
      ['email complained about', complained, undefined, 'a…@dest.test'],
    ],
  )
  assert.deepEqual(sender.count('pillarbox_bounces_total'), ['report soft 1'])
  assert.deepEqual(sender.count('pillarbox_complaints_total'), ['1'])
  const row = await store.read.select().from(emails).where(eq(emails.id, complained)).get()
  assert.equal(row?.status, 'COMPLAINED')
})
