/** Figures are equal to a count of every single email, click and event, whatever the range and zone. */
import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import { countActivity } from '../../../../src/features/insight/activity/figures.ts'
import { QUARTER_MS, quartersFrom } from '../../../../src/features/insight/analytics/buckets.ts'
import {
  addMail,
  type MailCounts,
  NO_MAIL,
} from '../../../../src/features/insight/analytics/mail-counts.ts'
import {
  findDaily,
  findDeliverability,
  findLeaderboard,
  findOverview,
  findTimeseries,
} from '../../../../src/features/insight/analytics/mail-figures.ts'
import { toMetrics } from '../../../../src/features/insight/analytics/metrics.ts'
import {
  readRange,
  type StreamChoice,
} from '../../../../src/features/insight/analytics/range/range.ts'
import {
  dayAt,
  formatLocal,
  startOfZoneDay,
  UTC,
  type Zone,
} from '../../../../src/features/insight/analytics/range/zone.ts'
import {
  findEvents,
  findLinks,
} from '../../../../src/features/insight/analytics/subject-figures.ts'
import { ANALYTICS_STREAMS } from '../../../../src/records/words.ts'
import { and, eq, lt } from '../../../../src/store/drizzle.ts'
import { eventCounts, linkCounts, mailCounts } from '../../../../src/store/schema/analytics.ts'
import { addProject, openTestCore, type TestCore } from '../../../core.ts'
import {
  type CountedEvent,
  type CountedLink,
  type CountedMail,
  countEvents,
  countLinks,
  countMail,
} from './add-counts.ts'

const NOW = Date.parse('2026-11-26T09:20:00Z')
const ZONES = [
  ...['UTC', 'Asia/Kathmandu', 'Australia/Eucla', 'Pacific/Chatham', 'Australia/Lord_Howe'],
  ...['America/New_York', 'Europe/Berlin', 'Pacific/Kiritimati', 'Etc/GMT+12', 'Africa/Cairo'],
]
const RANGES: { from?: string; to?: string }[] = [
  {},
  { from: '2026-08-29' },
  { from: '2026-10-25', to: '2026-10-25' },
  { from: '2026-11-01', to: '2026-11-03' },
  { from: '2026-09-20', to: '2026-10-10' },
  { from: '2026-11-20T07:40:00Z', to: '2026-11-25T13:05:00Z' },
  { from: '2026-11-25T07:10:00Z', to: '2026-11-25T07:20:00Z' },
]
/** The oldest ones are further back than any range and the one before it reach. */
const DAYS = 200

let seed = 13
/** The same numbers in each run. */
function random(below: number): number {
  seed = (Math.imul(seed, 1_103_515_245) + 12_345) & 0x7fffffff
  return (seed >>> 8) % below
}
const pick = <T>(list: readonly T[]): T => list[random(list.length)] as T

type Mail = CountedMail & Required<Pick<CountedMail, 'stream' | 'subjects'>>

function makeMail(projectId: string): Mail {
  const flag = () => random(2)
  const [opened, clicked] = [flag(), flag()]
  const bounce = random(8)
  return {
    projectId,
    at: NOW - random(DAYS * DAY_MS),
    stream: pick(ANALYTICS_STREAMS),
    subjects: {
      provider: pick(['gmail.com', 'outlook.com', 'other']),
      campaign: pick(['c1', 'c2', 'c3', 'c4']),
    },
    ...{ sent: 1, delivered: bounce < 2 ? 0 : 1, opened, clicked },
    openedAndClicked: opened * clicked,
    ...{ hardBounced: bounce === 0 ? 1 : 0, softBounced: bounce === 1 ? 1 : 0 },
    ...{ complained: Number(random(20) === 0), unsubscribed: Number(random(10) === 0) },
  }
}

function sumOf(mails: readonly CountedMail[]): MailCounts {
  return mails.reduce<MailCounts>((sum, mail) => addMail(sum, { ...NO_MAIL, ...numbersOf(mail) }), {
    ...NO_MAIL,
  })
}

const numbersOf = ({ projectId: _, at: __, stream: ___, subjects: ____, ...sums }: CountedMail) =>
  sums

type Ledger = {
  core: TestCore
  projectId: string
  mails: Mail[]
  links: Required<CountedLink>[]
  events: Required<CountedEvent>[]
}

/** A project whose quarters were deleted after 100 days, beside another one. */
async function openLedger(): Promise<Ledger> {
  const core = await openTestCore(
    { after: (close) => void closings.push(close) },
    { now: () => NOW },
  )
  const { id: projectId } = await addProject(core)
  const { id: otherId } = await addProject(core, 'Other')
  const mails = Array.from({ length: 2_000 }, () => makeMail(projectId))
  const links = Array.from({ length: 400 }, () => ({
    ...{ projectId, at: NOW - random(DAYS * DAY_MS), stream: pick(ANALYTICS_STREAMS) },
    ...{ url: pick(['https://a.test/', 'https://b.test/', '']), clicks: 1 + random(3) },
    firstClicks: random(2),
  }))
  const events = Array.from({ length: 1_000 }, () => ({
    ...{ projectId, at: NOW - random(DAYS * DAY_MS), events: 1 },
    stream: pick([...ANALYTICS_STREAMS, ''] as const),
    name: pick(['signup', 'email.open', 'workflow.started', 'email.failed', '']),
  }))
  const theirs = <T>(list: readonly T[]) =>
    list.slice(0, 40).map((one) => ({ ...one, projectId: otherId }))
  await countMail(core, ...mails, ...theirs(mails))
  await countLinks(core, ...links, ...theirs(links))
  await countEvents(core, ...events, ...theirs(events))
  for (const table of [mailCounts, linkCounts, eventCounts]) {
    const isOld = and(eq(table.span, QUARTER_MS), lt(table.startsAt, NOW - 100 * DAY_MS))
    await core.store.write((tx) => tx.delete(table).where(isOld))
  }
  return { core, projectId, mails, links, events }
}

/** All tests read this one. */
let ledger: Ledger
const closings: unknown[] = []

before(async () => {
  ledger = await openLedger()
})

after(async () => {
  for (const close of closings) await (close as () => unknown)()
})

/** The day that something belongs to: that of the zone, or further back than quarters reach the UTC day. */
const dayIn = (zone: Zone, at: number) => dayAt(at >= quartersFrom(NOW) ? zone : UTC, at)

/** Tells whether something is in a range whose borders are days of the zone, or instants that are not old. */
function within(zone: Zone, [fromAt, toAt]: readonly [number, number]): (at: number) => boolean {
  const [first, end] = [dayAt(zone, fromAt), dayAt(zone, toAt)]
  const areDays = startOfZoneDay(zone, first) === fromAt && startOfZoneDay(zone, end) === toAt
  if (!areDays) return (at) => at >= fromAt && at < toAt
  return (at) => {
    const day = dayIn(zone, at)
    return day >= first && day < end
  }
}

function sumBy<T>(
  list: readonly T[],
  { keyOf, sizeOf }: { keyOf: (one: T) => string; sizeOf: (one: T) => number },
): Map<string, number> {
  const sums = new Map<string, number>()
  for (const one of list) sums.set(keyOf(one), (sums.get(keyOf(one)) ?? 0) + sizeOf(one))
  return sums
}

test('figures equal a count of every email, click and event', async (t) => {
  const { core, projectId, mails, links, events } = ledger
  for (const tz of ZONES) {
    for (const query of RANGES) {
      const range = readRange({ ...query, tz }, NOW)
      const { zone, previousFromAt, fromAt, toAt } = range
      const stream: StreamChoice = pick(['ALL', ...ANALYTICS_STREAMS])
      const asked = { projectId, range, stream }
      const isAsked = (one: { stream: string }) => stream === 'ALL' || one.stream === stream
      const [current, previous] = [
        within(zone, [fromAt, toAt]),
        within(zone, [previousFromAt, fromAt]),
      ]
      const isIn = (one: { at: number; stream: string }) => isAsked(one) && current(one.at)
      const isBefore = (one: { at: number; stream: string }) => isAsked(one) && previous(one.at)
      const mine = mails.filter(isIn)
      const earlier = mails.filter(isBefore)

      await t.test(`${tz} ${JSON.stringify(query)} ${stream}`, async () => {
        const overview = await findOverview(core, asked)
        assert.deepEqual(overview.current, toMetrics(sumOf(mine)))
        assert.deepEqual(overview.previous, toMetrics(sumOf(earlier)))
        for (const { stream: one, ...figures } of overview.streams) {
          assert.deepEqual(figures, toMetrics(sumOf(mine.filter((mail) => mail.stream === one))))
        }
        assert.equal(overview.streams.length, stream === 'ALL' ? 3 : 1)

        const series = await findTimeseries(core, { ...asked, granularity: 'day' })
        for (const [points, counted] of [
          [series.current, mine],
          [series.previous, earlier],
        ] as const) {
          const byDate = Map.groupBy(counted, ({ at }) => dateIn(zone, at))
          const sent = points.reduce((sum, point) => sum + point.sent, 0)
          assert.equal(sent, counted.length)
          for (const point of points) {
            const { date, ...figures } = point as typeof point & { date: string }
            assert.deepEqual(figures, toMetrics(sumOf(byDate.get(date) ?? [])))
          }
        }

        const { providers, ...totals } = await findDeliverability(core, asked)
        const { hardBounced, softBounced, complained } = sumOf(mine)
        const found = { hardBounces: hardBounced, softBounces: softBounced, complaints: complained }
        assert.deepEqual(totals, found)
        assert.equal(
          providers.reduce((sum, { sent }) => sum + sent, 0),
          mine.length,
        )
        const { rows } = await findLeaderboard(core, {
          ...asked,
          ...{ kind: 'campaigns', sort: 'sent', limit: 10 },
        })
        for (const { id, name, ...figures } of rows) {
          assert.equal(name, null)
          const ofCampaign = mine.filter(({ subjects }) => subjects.campaign === id)
          assert.deepEqual(figures, toMetrics(sumOf(ofCampaign)))
        }

        const clicks = await findLinks(core, { ...asked, limit: 10 })
        const byUrl = sumBy(links.filter(isIn), {
          keyOf: ({ url }) => url,
          sizeOf: (one) => one.clicks,
        })
        assert.deepEqual(new Map(clicks.links.map((link) => [link.url ?? '', link.clicks])), byUrl)
        assert.equal(
          clicks.totalClicks,
          [...byUrl.values()].reduce((sum, count) => sum + count, 0),
        )

        const happened = await findEvents(core, { ...asked, limit: 10 })
        const listed = events.filter(({ name }) => name !== 'email.failed')
        const count = { keyOf: ({ name }: { name: string }) => name, sizeOf: () => 1 }
        const [now, before] = [isIn, isBefore].map((isCounted) =>
          sumBy(listed.filter(isCounted), count),
        )
        for (const event of happened) {
          const name = event.name ?? ''
          assert.deepEqual(
            [event.count, event.previousCount],
            [now?.get(name) ?? 0, before?.get(name) ?? 0],
          )
        }
        const names = new Set([...(now?.keys() ?? []), ...(before?.keys() ?? [])])
        assert.equal(happened.length, names.size)
      })
    }
  }
})

const dateIn = (zone: Zone, at: number) =>
  new Date(dayIn(zone, at) * DAY_MS).toISOString().slice(0, 10)

test('hours equal a count of every email, also where the clock changes', async (t) => {
  const core = await openTestCore(t, { now: () => NOW })
  const { id: projectId } = await addProject(core)
  const zones = ['Europe/Berlin', 'Australia/Lord_Howe', 'Pacific/Chatham', 'America/Havana']
  const days = ['2026-10-25', '2026-10-04', '2026-09-27', '2026-11-01']
  for (const [index, tz] of zones.entries()) {
    const date = days[index] ?? ''
    const range = readRange({ from: date, to: date, tz }, NOW)
    const { zone, fromAt, toAt } = range
    const mails = Array.from({ length: 300 }, (_, number) => ({
      ...{ projectId, stream: pick(ANALYTICS_STREAMS), sent: 1 },
      at: fromAt + Math.floor(((toAt - fromAt) * number) / 300),
    }))
    await core.store.write((tx) => tx.delete(mailCounts))
    await countMail(core, ...mails)
    const { granularity, current } = await findTimeseries(core, { projectId, range, stream: 'ALL' })
    assert.equal(granularity, 'hour')
    const label = (at: number) => formatLocal(zone, at)
    for (const [position, point] of current.entries()) {
      const { at } = point as typeof point & { at: string }
      const next = (current[position + 1] as { at: string } | undefined)?.at ?? label(toAt)
      const [from, to] = [Date.parse(at), Date.parse(next)]
      const expected = mails.filter((mail) => mail.at >= from && mail.at < to).length
      assert.equal(point.sent, expected, `${tz} ${at}`)
    }
    assert.equal(
      current.reduce((sum, { sent }) => sum + sent, 0),
      300,
    )
  }
})

test('the list of UTC days equals a count of every email', async () => {
  const { core, projectId, mails } = ledger
  for (const query of [{}, { from: '2026-08-29' }, { from: '2026-11-20T07:00:00Z' }]) {
    const range = readRange(query, NOW)
    const days = await findDaily(core, { projectId, range, stream: 'ALL' })
    for (const { date, ...figures } of days) {
      const ofDay = mails.filter(({ at }) => Math.floor(at / DAY_MS) * DAY_MS === Date.parse(date))
      const sums = sumOf(ofDay)
      assert.deepEqual(figures, {
        ...{ emails: sums.sent, opens: sums.opened, clicks: sums.clicked },
        ...{ bounces: sums.hardBounced + sums.softBounced, delivered: sums.delivered },
      })
    }
    assert.equal(days.at(-1)?.date, '2026-11-26T00:00:00.000Z')
  }
})

test('figures of activity equal a count, for any range', async () => {
  const { core, projectId, mails, events } = ledger
  const listed = events.filter(({ name }) => name !== 'email.failed')
  const ranges = [
    ...[{}, { startAt: 0 }, { startAt: NOW - 5 * DAY_MS }, { endAt: NOW - 3 * DAY_MS }],
    { startAt: Date.parse('2026-11-20T07:31:00Z'), endAt: Date.parse('2026-11-22T07:29:59.999Z') },
    { startAt: NOW, endAt: NOW - 1_000_000 },
  ]
  for (const range of ranges) {
    const stats = await countActivity(core, { projectId, range })
    const endAt = range.endAt ?? NOW
    const startAt = range.startAt ?? Math.min(endAt, NOW) - 30 * DAY_MS
    const quarter = (at: number) => Math.floor(at / QUARTER_MS)
    const isIn = ({ at }: { at: number }) =>
      quarter(at) >= quarter(startAt) && quarter(at) <= quarter(endAt)
    const { sent, opened, clicked } = sumOf(mails.filter(isIn))
    assert.deepEqual(
      [stats.totalEmailsSent, stats.totalEmailsOpened, stats.totalEmailsClicked],
      [sent, opened, clicked],
    )
    assert.equal(stats.totalEvents, listed.filter(isIn).length)
    const started = listed.filter((event) => isIn(event) && event.name === 'workflow.started')
    assert.equal(stats.totalWorkflowsStarted, started.length)
  }
})
