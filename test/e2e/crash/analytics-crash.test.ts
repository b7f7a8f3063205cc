import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/store/drizzle.ts'
import { countAnalytics, openCounted } from './analytics-child.ts'
import { killInNewDatabase } from './run-until-killed.ts'

test('after kills the counts are equal to a ledger of the emails, also of deleted ones', async (t) => {
  const own = { program: 'analytics-child.ts', follower: 'analytics' }
  const file = await killInNewDatabase(t, own)

  const store = await openCounted(file)
  const figures = sql`sum(sent) as sent, sum(delivered) as delivered, sum(opened) as opened`
  const countOf = (kind: string, span: number) =>
    store.read.all(sql`select project_id, starts_at, ${figures} from mail_counts
      where kind = ${kind} and span = ${span} group by 1, 2 order by 1, 2`)
  const [early] = await store.read.all<{ n: number }>(
    sql`select sum(sent) as n from mail_counts where kind = 'all' and span = 86400000`,
  )
  const follower = countAnalytics(store)
  await follower.caughtUp()
  await follower.stop()
  for (const span of [900_000, 86_400_000]) {
    const expected = await store.read.all(sql`select project_id,
        accepted_at - accepted_at % ${sql.raw(String(span))} as starts_at, ${figures}
      from (select * from ledger union all select project_id, created_at, sent_at is not null,
        delivered_at is not null, opened_at is not null from emails where sent_at is not null)
      where sent = 1 group by 1, 2 order by 1, 2`)
    for (const kind of ['all', 'provider', 'campaign']) {
      assert.deepEqual(await countOf(kind, span), expected, `${kind} ${span}`)
    }
  }
  const names = await store.read.all<{ name: string; events: number }>(
    sql`select name, sum(events) as events from event_counts
      join analytics_subjects on id = subject where span = 86400000 group by 1 order by 1`,
  )
  const total = await store.read.get<{ n: number }>(
    sql`select seq as n from sqlite_sequence where name = 'events'`,
  )
  assert.equal(
    names.reduce((sum, { events }) => sum + events, 0),
    total.n,
  )
  await store.close()
  t.diagnostic(`${early?.n} emails were counted before the last start`)
  assert.ok(Number(early?.n) > 0)
})
