/** The query plans of statements over `emails`: none may read the whole table. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listPaused } from '../../../../../src/features/mail/messages/disabled/mail-fate.ts'
import {
  listAllParked,
  listOwnParked,
  listReleasable,
  releaseSome,
} from '../../../../../src/features/mail/messages/disabled/waiting-rows.ts'
import {
  listAhead,
  listLastAttempts,
  listSuppressionsOf,
} from '../../../../../src/features/mail/messages/explain/explain-emails.ts'
import {
  settleDelivered,
  settleOthers,
} from '../../../../../src/features/mail/messages/outcome/final-state.ts'
import {
  laterIds,
  waitingCount,
  waitingDomains,
} from '../../../../../src/features/mail/messages/queue/bring-forward.ts'
import { claimLanes, listNextDue } from '../../../../../src/features/mail/messages/queue/claim.ts'
import {
  findOverdue,
  listOverdue,
} from '../../../../../src/features/mail/messages/queue/give-up.ts'
import {
  heldIds,
  holdsWithCounts,
  strayDomains,
  waitingIds,
} from '../../../../../src/features/mail/messages/queue/holds.ts'
import {
  countHeld,
  countLanes,
  listDeferred,
} from '../../../../../src/features/mail/messages/queue/mail-of-project.ts'
import { oldestDue } from '../../../../../src/features/mail/messages/queue/oldest-due.sqlite.ts'
import { deferLane } from '../../../../../src/features/mail/messages/queue/put-back.ts'
import {
  endedCounts,
  isNumbered,
  isOnTheWay,
  isToRecipient,
  listedCount,
  newestNumber,
  queueCounts,
} from '../../../../../src/features/mail/messages/queue/queue-list.ts'
import { listRetryFacts } from '../../../../../src/features/mail/messages/queue/retryable.ts'
import { countParked } from '../../../../../src/features/mail/messages/queue/waiting-mail.ts'
import {
  listContentsInQueue,
  listOld,
  listOldOwn,
  listSnapshots,
} from '../../../../../src/features/mail/messages/retention.ts'
import { listByAddress } from '../../../../../src/features/mail/suppressions/suppressions.ts'
import {
  countOfMachines,
  countOfPersons,
} from '../../../../../src/features/mail/tracking/record-hits.ts'
import { listContactsOfAddress } from '../../../../../src/features/people/contacts/read/find-contact.ts'
import type { Statement } from '../../../../../src/store/database.ts'
import { compileSql } from '../../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../../src/store/drizzle.ts'
import { openSender, type Sender } from '../sender.ts'

async function planOf({ core }: Sender, query: SQL | Statement<unknown>): Promise<string[]> {
  const { text } = 'compiled' in query ? query.compiled() : { text: compileSql(query).sql }
  const parameters = text.replaceAll('?', 'null')
  const rows = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${parameters}`),
  )
  return rows.map(({ detail }) => detail)
}

const list = (filter: Parameters<typeof isOnTheWay>[0]) =>
  sql`select id from emails where ${isOnTheWay(filter)} order by rowid desc limit 1000`

const queries: [string, SQL | Statement<unknown>][] = [
  ['claiming', claimLanes],
  ['the next due times', listNextDue],
  ['deliveries', settleDelivered],
  ['other outcomes', settleOthers],
  ['hits of persons', countOfPersons],
  ['hits of machines', countOfMachines],
  ['looking for what to give up', findOverdue],
  ['giving up', listOverdue],
  ['whether an email can be retried', listRetryFacts],
  ['deferring what waits for a site at rest', deferLane],
  ['counting', queueCounts()],
  ['counting the mail to addresses that begin alike', queueCounts('ada@')],
  ['the age of what waits', oldestDue(0)],
  ['listing', list({})],
  ['counting what is listed', listedCount({ domain: 'dest.test' })],
  ['counting the mail to one recipient', listedCount({ recipient: 'ada@dest.test' })],
  ['listing by domain', list({ domain: 'dest.test' })],
  ['listing what is held', list({ state: 'held', domain: 'dest.test' })],
  ['listing what is being sent', list({ state: 'sending' })],
  ['listing what waits', list({ state: 'queued', senderDomain: 'example.test' })],
  ['finding the newest', newestNumber()],
  [
    'listing a page of finished mail',
    sql`select id from emails where state = 'bounced' and ${isNumbered({ from: 1, before: 2 })}
      order by rowid desc limit 1000`,
  ],
  ['holding', sql`select * from emails where id in ${waitingIds('dest.test')}`],
  ['releasing', sql`select * from emails where id in ${heldIds('dest.test')}`],
  ['looking for stray holds', strayDomains()],
  [
    'listing all mail to one recipient',
    sql`select id from emails where ${isToRecipient({ recipient: 'ada@dest.test' })}
      order by rowid desc limit 1000`,
  ],
  ['looking for what is ahead', listAhead],
  ['counting what has ended', endedCounts({}, 100_000)],
  ['listing holds', holdsWithCounts()],
  ['listing the domains that mail waits for', waitingDomains()],
  ['counting what waits for domains', waitingCount(['dest.test'])],
  ['bringing mail forward', sql`select * from emails where id in ${laterIds('dest.test', 1)}`],
  ['counting the mail in lanes of a project', countLanes],
  ['counting the held mail of a project', countHeld],
  ['listing deferred mail of a project', listDeferred],
  ['looking for contents in use', listContentsInQueue],
  ['looking for old shared contents', listOld],
  ['looking for other old contents', listOldOwn],
  ['looking for old snapshots', listSnapshots],
]

for (const [name, query] of queries) {
  test(`${name} reads no whole table of emails or contents`, async (t) => {
    const plan = await planOf(await openSender(t), query)
    const whole = plan.filter((step) => /^SCAN (emails|contents)(?! USING)/.test(step))
    assert.deepEqual(whole, [], plan.join('\n'))
  })
}

test('the give-up clock and the counts read indexes only', async (t) => {
  const sender = await openSender(t)
  for (const query of [findOverdue, queueCounts(), oldestDue(0)]) {
    const plan = await planOf(sender, query)
    const scans = plan.filter((step) => /^SCAN emails|^SEARCH emails(?! USING INTEGER)/.test(step))
    assert.ok(scans.length > 0)
    assert.ok(
      scans.every((step) => step.includes('USING COVERING INDEX emails_')),
      plan.join('\n'),
    )
  }
})

test('the oldest due mail is found from lane to lane, by seeks only', async (t) => {
  const plan = await planOf(await openSender(t), oldestDue(0))
  const steps = plan.filter((step) => /(SCAN|SEARCH) emails/.test(step))
  const seek = 'SEARCH emails USING COVERING INDEX emails_ready'
  assert.deepEqual(steps, [
    `${seek} (queue_class=? AND recipient_domain=? AND project_id>?)`,
    `${seek} (queue_class=? AND recipient_domain>?)`,
    `${seek} (queue_class>? AND queue_class<?)`,
  ])
})

test('waiting mail of a project is found lane by lane, its held mail by project', async (t) => {
  const sender = await openSender(t)
  const lane = '(queue_class=? AND recipient_domain=? AND project_id=? AND due_at>?)'
  for (const [query, index, seek] of [
    [countLanes, 'COVERING INDEX emails_ready', lane],
    [listDeferred, 'COVERING INDEX emails_ready', lane],
    [countHeld, 'INDEX emails_parked', '(project_id=? AND shelf=?)'],
  ] as const) {
    const plan = await planOf(sender, query)
    const steps = plan.filter((step) => step.includes('USING') && !step.includes('INTEGER'))
    const found = steps.filter((step) => step.includes('INDEX emails_'))
    assert.deepEqual(found, [`SEARCH emails USING ${index} ${seek}`], plan.join('\n'))
  }
})

test('mail of a project that was put aside is found by seeks, of campaigns or not', async (t) => {
  const sender = await openSender(t)
  for (const [query, seek] of [
    [listAllParked, '(project_id=? AND shelf=?)'],
    [listOwnParked, '(project_id=? AND shelf=? AND campaign_id=?)'],
    [releaseSome, '(project_id=? AND shelf=? AND campaign_id=?)'],
  ] as const) {
    const plan = await planOf(sender, query)
    const steps = plan.filter((step) => step.includes('emails_parked'))
    assert.deepEqual(steps, [`SEARCH emails USING COVERING INDEX emails_parked ${seek}`])
  }
})

test('mail that was put aside is found beside that of held domains', async (t) => {
  const sender = await openSender(t)
  const seek =
    /^SEARCH emails (EXISTS )?USING .*INDEX emails_parked \(project_id=\? AND shelf=\?( AND campaign_id=\?)?\)$/
  const step = /^SEARCH emails USING COVERING INDEX emails_parked( \(project_id>\?\))?$/
  for (const query of [
    queueCounts(),
    queueCounts('ada@'),
    countParked,
    list({ state: 'paused' }),
    list({ state: 'paused', projectId: 'p' }),
    listedCount({}),
    listPaused,
    listReleasable,
  ]) {
    const plan = await planOf(sender, query)
    const steps = plan.filter((each) => each.includes('emails_parked') && !step.test(each))
    assert.ok(steps.length === 1 && seek.test(steps[0] ?? ''), plan.join('\n'))
  }
})

test('mail and suppressions of one recipient are found project by project in the address indexes', async (t) => {
  const sender = await openSender(t)
  const recipient = isToRecipient({ recipient: 'ada@dest.test' })
  const plan = await planOf(sender, sql`select id from emails where ${recipient}`)
  const used = (step: RegExp, steps: string[]) =>
    assert.ok(
      steps.some((each) => step.test(each)),
      steps.join('\n'),
    )
  used(/SEARCH contacts USING .*contacts_address \(project_id=\? AND email=\?\)/, plan)
  used(/SEARCH emails USING INDEX emails_contact \(contact_id=\?\)/, plan)
  used(
    /SEARCH contacts USING .*contacts_address \(project_id=\? AND email=\?\)/,
    await planOf(sender, listContactsOfAddress),
  )
  for (const query of [listByAddress, listSuppressionsOf]) {
    used(/SEARCH suppressions USING .*\(project_id=\? AND email=\?\)/, await planOf(sender, query))
  }
  used(/SEARCH attempts USING INDEX attempts_email/, await planOf(sender, listLastAttempts))
  used(/SEARCH emails USING COVERING INDEX emails_ready/, await planOf(sender, waitingDomains()))
})
