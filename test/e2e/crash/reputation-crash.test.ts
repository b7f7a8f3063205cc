import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from '../../../src/store/drizzle.ts'
import { openCountedProjects } from './counted-projects.ts'
import { countReputation } from './reputation-child.ts'
import { killInNewDatabase } from './run-until-killed.ts'

test('after kills the counters of reputation are equal to a recount of the events', async (t) => {
  const own = { program: 'reputation-child.ts', follower: 'reputation' }
  const file = await killInNewDatabase(t, own)

  const store = await openCountedProjects(file)
  const [early] = await store.read.all<{ n: number }>(
    sql`select sum(emails) as n from reputation_totals`,
  )
  const follower = countReputation(store)
  await follower.caughtUp()
  await follower.stop()
  const counts = sql`sum(name = 'email.sent') as emails, sum(name = 'email.bounce') as bounces,
    sum(name = 'email.complaint') as complaints`
  const hours = await store.read.all(
    sql`select project_id, created_at - created_at % 3600000 as starts_at, ${counts} from events
      group by 1, 2 order by 1, 2`,
  )
  const totals = await store.read.all(
    sql`select project_id, ${counts} from events group by 1 order by 1`,
  )
  assert.deepEqual(
    await store.read.all(sql`select * from reputation_hours order by project_id, starts_at`),
    hours,
  )
  assert.deepEqual(
    await store.read.all(sql`select * from reputation_totals order by project_id`),
    totals,
  )
  await store.close()
  t.diagnostic(`${early?.n} emails were counted before the last start`)
  assert.ok(Number(early?.n) > 0)
})
