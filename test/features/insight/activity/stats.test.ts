import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import { appendEvents, type NewEvent } from '../../../../src/features/ground/events/append.ts'
import {
  countActivity,
  countEmailsSince,
  countRecent,
  countSince,
  type StatsRange,
} from '../../../../src/features/insight/activity/figures.ts'
import { listUpcoming } from '../../../../src/features/insight/activity/upcoming.ts'
import type { UpcomingSource } from '../../../../src/features/insight/activity/upcoming-source.ts'
import { QUARTER_MS } from '../../../../src/features/insight/analytics/buckets.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { address, START } from '../../../core.ts'
import { addSenderProject, openSender, type Sender } from '../../mail/messages/sender.ts'
import { countEvents, countMail } from '../analytics/add-counts.ts'

type EventInput = { name: string; at?: number; data?: Record<string, unknown>; projectId?: string }

async function addEvents(sender: Sender, inputs: readonly EventInput[]): Promise<void> {
  const rows: NewEvent[] = inputs.map(({ name, at = START, data = null, projectId }) => ({
    projectId: projectId ?? sender.project.id,
    name,
    contactId: null,
    emailId: null,
    data,
    at,
  }))
  await sender.core.store.write((tx) => appendEvents(tx, rows))
}

test('figures compare opens and clicks with the emails sent', async (t) => {
  const { core, project } = await openSender(t)
  const projectId = project.id
  const mail = { projectId, at: START }
  await countMail(
    core,
    { ...mail, stream: 'CAMPAIGN', sent: 4, delivered: 4, opened: 1 },
    { ...mail, stream: 'TRANSACTIONAL', sent: 2, delivered: 2, opened: 1, clicked: 1 },
  )
  const event = { projectId, at: START }
  await countEvents(
    core,
    { ...event, name: 'email.sent', stream: 'CAMPAIGN', events: 6 },
    { ...event, name: 'signup', events: 2 },
    { ...event, name: 'workflow.started', events: 3 },
    { ...event, name: 'email.failed', events: 9 },
    { ...event, name: '', events: 1 },
  )
  assert.deepEqual(await countActivity(core, { projectId, range: {} }), {
    totalEvents: 12,
    totalEmailsSent: 6,
    totalEmailsOpened: 2,
    totalEmailsClicked: 1,
    totalWorkflowsStarted: 3,
    openRate: 33.33,
    clickRate: 16.67,
  })
})

test('rates are 0 where nothing was sent', async (t) => {
  const { core, project } = await openSender(t)
  const none = await countActivity(core, { projectId: project.id, range: {} })
  assert.deepEqual([none.totalEvents, none.openRate, none.clickRate], [0, 0, 0])
})

test('a range includes the quarters of both ends, and defaults to the thirty days before its end', async (t) => {
  const { core, project } = await openSender(t)
  const projectId = project.id
  for (const at of [START - 31 * DAY_MS, START - 1, START, START + QUARTER_MS]) {
    await countEvents(core, { projectId, at, name: 'signup' })
  }
  const count = async (range: StatsRange) =>
    (await countActivity(core, { projectId, range })).totalEvents
  assert.equal(await count({}), 2)
  assert.equal(await count({ startAt: START - 1, endAt: START - 1 }), 1)
  assert.equal(await count({ startAt: START - 1, endAt: START }), 2)
  assert.equal(await count({ endAt: START + QUARTER_MS }), 3)
  assert.equal(await count({ startAt: 0 }), 3)
  assert.equal(await count({ startAt: START, endAt: START - QUARTER_MS }), 0)
})

test('figures of a project exclude other projects', async (t) => {
  const sender = await openSender(t)
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  await addEvents(sender, [{ name: 'email.sent', projectId: other.id }])
  await countEvents(sender.core, { projectId: other.id, at: START, name: 'email.sent' })
  await countMail(sender.core, { projectId: other.id, at: START, sent: 1 })
  const of = async (projectId: string) => {
    const { totalEvents, totalEmailsSent } = await countActivity(sender.core, {
      projectId,
      range: {},
    })
    return [totalEvents, totalEmailsSent]
  }
  assert.deepEqual(await of(sender.project.id), [0, 0])
  assert.deepEqual(await of(other.id), [1, 1])
  assert.equal((await countRecent(sender.core, sender.project.id, 5)).count, 0)
})

test('the recent count covers only the last minutes', async (t) => {
  const sender = await openSender(t)
  await addEvents(sender, [
    { name: 'old', at: START - 5 * 60_000 },
    { name: 'signup', at: START - 5 * 60_000 + 1 },
    { name: 'email.sent' },
  ])
  assert.deepEqual(await countRecent(sender.core, sender.project.id, 5), { count: 2, minutes: 5 })
  assert.deepEqual(await countRecent(sender.core, sender.project.id, 6), { count: 3, minutes: 6 })
})

test("the recent count includes the project's emails in addition to its events", async (t) => {
  const sender = await openSender(t)
  // Emails are selected by the time in their ids, which comes from the machine's clock.
  sender.clock.now = Date.now() + 1_000
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  await sender.send()
  await sender.send()
  const from = { address: address('hello@other.test'), name: null }
  await sender.send({ from }, { project: other })
  assert.equal((await countRecent(sender.core, sender.project.id, 5)).count, 2)
  assert.equal((await countRecent(sender.core, other.id, 5)).count, 1)
  sender.clock.now += 6 * 60_000
  assert.equal((await countRecent(sender.core, sender.project.id, 5)).count, 0)
})

test('upcoming activity of all sources is sorted soonest first', async (t) => {
  const sender = await openSender(t)
  const line = (id: string, at: number) => ({
    id,
    type: 'campaign.scheduled',
    timestamp: new Date(at).toISOString(),
    metadata: {},
  })
  const asked: unknown[] = []
  const sources: UpcomingSource[] = [
    async (_, query) => {
      asked.push(query)
      return [line('b', START + 2), line('e', START + 9)]
    },
    async () => [line('c', START + 3), line('a', START + 2)],
  ]
  const upcoming = await listUpcoming(sender.core, sender.project.id, {
    limit: 3,
    daysAhead: 30,
    sources,
  })
  assert.deepEqual(
    upcoming.map(({ id }) => id),
    ['a', 'b', 'c'],
  )
  const { id: projectId } = sender.project
  assert.deepEqual(asked, [{ projectId, from: START, until: START + 30 * DAY_MS, limit: 3 }])
  assert.deepEqual(await listUpcoming(sender.core, projectId, { limit: 50, daysAhead: 30 }), [])
})

async function planOf(sender: Sender, text: string): Promise<string[]> {
  const rows = await sender.core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
  )
  return rows.map(({ detail }) => detail)
}

test('recent counts read their rows through an index', async (t) => {
  const sender = await openSender(t)
  const plan = await planOf(sender, countSince.compiled().text)
  assert.match(plan[0] ?? '', /INDEX events_listed \(project_id=\? AND created_at>\?\)/)
  assert.ok(!plan.some((step) => step.startsWith('SCAN')), plan.join('; '))
  const recent = await planOf(sender, countEmailsSince.compiled().text)
  assert.match(recent[1] ?? '', /^SEARCH emails USING .*sqlite_autoindex_emails_1 \(id>\?\)/)
})
