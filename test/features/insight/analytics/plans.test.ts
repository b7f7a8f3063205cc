/** Every call reads its counts through the primary keys, and only the buckets of its range. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { countActivity } from '../../../../src/features/insight/activity/figures.ts'
import {
  findDaily,
  findDeliverability,
  findLeaderboard,
  findOverview,
  findTimeseries,
} from '../../../../src/features/insight/analytics/mail-figures.ts'
import { readRange } from '../../../../src/features/insight/analytics/range/range.ts'
import type { AnalyticsDeps } from '../../../../src/features/insight/analytics/read-counts.ts'
import {
  findEvents,
  findLinks,
} from '../../../../src/features/insight/analytics/subject-figures.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { openTestCore, START } from '../../../core.ts'

const query = {
  projectId: 'p',
  range: readRange({ tz: 'Asia/Kathmandu' }, START),
  stream: 'ALL' as const,
}

const calls: Record<string, (deps: AnalyticsDeps) => Promise<unknown>> = {
  overview: (deps) => findOverview(deps, query),
  'overview of a stream': (deps) => findOverview(deps, { ...query, stream: 'CAMPAIGN' }),
  timeseries: (deps) => findTimeseries(deps, query),
  'a list of days': (deps) => findDaily(deps, query),
  deliverability: (deps) => findDeliverability(deps, query),
  leaderboard: (deps) =>
    findLeaderboard(deps, { ...query, kind: 'templates', sort: 'openRate', limit: 10 }),
  links: (deps) => findLinks(deps, { ...query, limit: 10 }),
  events: (deps) => findEvents(deps, { ...query, limit: 10 }),
  'figures of activity': (deps) => countActivity(deps, { projectId: 'p', range: {} }),
}

const MAIL =
  /^SEARCH counts USING PRIMARY KEY \(project_id=\? AND kind=\? AND span=\? AND starts_at>\? AND starts_at<\?\)/
const SUBJECTS =
  /^SEARCH counts USING PRIMARY KEY \(project_id=\? AND span=\? AND starts_at>\? AND starts_at<\?\)/

for (const [name, call] of Object.entries(calls)) {
  test(`${name}: the plan searches the range, and scans nothing but its result`, async (t) => {
    const core = await openTestCore(t)
    const asked: SQL[] = []
    const all = async (text: SQL) => {
      asked.push(text)
      return []
    }
    const store = { ...core.store, scan: { all } } as unknown as AnalyticsDeps['store']
    await call({ ...core, store })
    assert.ok(asked.length > 0)
    for (const text of asked) {
      const steps = await core.store.read.all<{ detail: string }>(sql`explain query plan ${text}`)
      const details = steps.map(({ detail }) => detail)
      const reads = details.filter((detail) => detail.includes('counts'))
      assert.equal(reads.length, 1, details.join('; '))
      assert.ok(MAIL.test(reads[0] ?? '') || SUBJECTS.test(reads[0] ?? ''), reads[0])
      const scans = details.filter((detail) => detail.startsWith('SCAN'))
      const results = /^SCAN (json_each|board|links|happened|\(subquery-\d+\))( |$)/
      for (const scan of scans) assert.match(scan, results, details.join('; '))
    }
  })
}
