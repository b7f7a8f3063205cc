import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../src/clock.ts'
import { countEmailsSince, countRecent, countSince } from '../../../src/features/activity/recent.ts'
import {
  countActivity,
  countPart,
  createActivityStats,
  findPartEnd,
} from '../../../src/features/activity/stats.ts'
import { listUpcoming } from '../../../src/features/activity/upcoming.ts'
import type { UpcomingSource } from '../../../src/features/activity/upcoming-source.ts'
import { appendEvents, type NewEvent } from '../../../src/features/events/append.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { address, START } from '../../core.ts'
import { addSenderProject, openSender, type Sender } from '../messages/sender.ts'

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

const times = (count: number, brief: EventInput): EventInput[] =>
  Array.from({ length: count }, () => brief)

test('figures compare the first opens and clicks of people with the emails sent', async (t) => {
  const sender = await openSender(t)
  await addEvents(sender, [
    ...times(6, { name: 'email.sent' }),
    ...times(6, { name: 'email.delivery' }),
    ...times(2, { name: 'email.open', data: { isFirstOpen: true, opens: 1 } }),
    { name: 'email.open', data: { isFirstOpen: false, opens: 2 } },
    { name: 'email.click', data: { isFirstClick: true, link: 'https://a.test/' } },
    { name: 'email.click', data: { isFirstClick: false, link: 'https://a.test/' } },
    { name: 'signup', data: { isFirstOpen: true } },
  ])
  assert.deepEqual(await countActivity(sender.core, sender.project.id, { range: {} }), {
    totalEvents: 18,
    totalEmailsSent: 6,
    totalEmailsOpened: 2,
    totalEmailsClicked: 1,
    totalWorkflowsStarted: 0,
    openRate: 33.33,
    clickRate: 16.67,
  })
})

test('rates are 0 where nothing was sent, even when something was opened', async (t) => {
  const sender = await openSender(t)
  const none = await countActivity(sender.core, sender.project.id, { range: {} })
  assert.deepEqual([none.totalEvents, none.openRate, none.clickRate], [0, 0, 0])
  await addEvents(sender, [{ name: 'email.open', data: { isFirstOpen: true } }])
  const opened = await countActivity(sender.core, sender.project.id, { range: {} })
  assert.deepEqual([opened.totalEmailsOpened, opened.openRate], [1, 0])
})

test('a range includes both ends and defaults to the thirty days before its end', async (t) => {
  const sender = await openSender(t)
  await addEvents(sender, [
    { name: 'old', at: START - 31 * DAY_MS },
    { name: 'first', at: START - 2 },
    { name: 'last', at: START },
    { name: 'later', at: START + 1 },
  ])
  const count = async (range: { startAt?: number; endAt?: number }) =>
    (await countActivity(sender.core, sender.project.id, { range })).totalEvents
  assert.equal(await count({}), 2)
  assert.equal(await count({ startAt: START - 2, endAt: START - 2 }), 1)
  assert.equal(await count({ startAt: START - 1, endAt: START }), 1)
  assert.equal(await count({ endAt: START + 1 }), 3)
  assert.equal(await count({ startAt: 0 }), 3)
  assert.equal(await count({ startAt: START, endAt: START - 1 }), 0)
})

test('parts of any size give the same figures, even if many events share an instant', async (t) => {
  const sender = await openSender(t)
  await addEvents(sender, [
    ...times(7, { name: 'email.sent', at: START - 5 }),
    ...times(5, { name: 'email.sent', at: START - 4 }),
    { name: 'other', at: START - 3 },
    ...times(4, { name: 'email.sent', at: START }),
  ])
  for (const partEvents of [1, 2, 3, 7, 16, 17, 18]) {
    const input = { range: {}, partEvents }
    const { totalEvents, totalEmailsSent } = await countActivity(
      sender.core,
      sender.project.id,
      input,
    )
    assert.deepEqual([partEvents, totalEvents, totalEmailsSent], [partEvents, 17, 16])
  }
})

test('figures of a project exclude other projects', async (t) => {
  const sender = await openSender(t)
  const other = await addSenderProject(sender.core, 'Other', 'other.test')
  await addEvents(sender, [{ name: 'email.sent', projectId: other.id }])
  const stats = createActivityStats(sender.core)
  assert.equal((await stats(sender.project.id, {})).totalEvents, 0)
  assert.equal((await stats(other.id, {})).totalEvents, 1)
  assert.equal((await countRecent(sender.core, sender.project.id, 5)).count, 0)
})

test('figures are cached for five minutes by project and range', async (t) => {
  const sender = await openSender(t)
  const stats = createActivityStats(sender.core)
  const total = async (range = {}) => (await stats(sender.project.id, range)).totalEvents
  assert.equal(await total(), 0)
  await addEvents(sender, [{ name: 'signup' }])
  assert.equal(await total(), 0)
  assert.equal(await total({ startAt: START }), 1, 'another range is another question')
  sender.clock.now += 5 * 60_000 - 1
  assert.equal(await total(), 0)
  sender.clock.now += 1
  assert.equal(await total(), 1)
})

test('a failed count is not cached', async (t) => {
  const sender = await openSender(t)
  let isBroken = true
  const store = {
    ...sender.core.store,
    get scan() {
      if (isBroken) throw new Error('the reader is gone')
      return sender.core.store.scan
    },
  }
  const stats = createActivityStats({ ...sender.core, store })
  await assert.rejects(stats(sender.project.id, {}), /the reader is gone/)
  isBroken = false
  assert.equal((await stats(sender.project.id, {})).totalEvents, 0)
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

test('figures read their rows through an index', async (t) => {
  const sender = await openSender(t)
  const between =
    /SEARCH events USING .*events_listed \(project_id=\? AND created_at>\? AND created_at<\?\)/
  const plans: [string, RegExp][] = [
    [countPart.compiled().text, between],
    [findPartEnd.compiled().text, between],
    [countSince.compiled().text, /INDEX events_listed \(project_id=\? AND created_at>\?\)/],
  ]
  for (const [text, expected] of plans) {
    const plan = await planOf(sender, text)
    assert.match(plan[0] ?? '', expected, text)
    assert.ok(!plan.some((step) => step.startsWith('SCAN')), plan.join('; '))
    assert.ok(!plan.includes('USE TEMP B-TREE FOR ORDER BY'), plan.join('; '))
  }
  const recent = await planOf(sender, countEmailsSince.compiled().text)
  assert.match(recent[1] ?? '', /^SEARCH emails USING .*sqlite_autoindex_emails_1 \(id>\?\)/)
})
