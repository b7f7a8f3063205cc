import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import { startLazyReader } from '../../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../../src/features/ground/usage/follow-events.ts'
import { monthOf } from '../../../../src/features/ground/usage/month.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { usageMonths } from '../../../../src/store/schema/billing.ts'
import { openStore } from '../../../../src/store/store.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'
import { openBefore } from '../../../store/open-before.ts'

type Row = {
  id: string
  project: string
  source: string
  status?: string
  at?: number
  isPlatform?: number
}

test('a database with mail starts with what was accepted this month', async (t) => {
  const { before, file } = await openBefore(t, 17)
  const now = Date.now()
  const month = monthOf(now)
  const rows: Row[] = [
    { id: 'a1', project: 'a', source: 'TRANSACTIONAL', at: month },
    { id: 'a2', project: 'a', source: 'TRANSACTIONAL', status: 'BOUNCED' },
    { id: 'a3', project: 'a', source: 'TRANSACTIONAL', status: 'FAILED' },
    { id: 'a4', project: 'a', source: 'CAMPAIGN', status: 'SUPPRESSED' },
    { id: 'a5', project: 'a', source: 'CAMPAIGN' },
    { id: 'a6', project: 'a', source: 'WORKFLOW' },
    { id: 'a7', project: 'a', source: 'TRANSACTIONAL', at: month - 1 },
    { id: 'a8', project: 'a', source: 'TRANSACTIONAL', isPlatform: 1 },
    { id: 'b1', project: 'b', source: 'INBOUND', status: 'RECEIVED' },
    { id: 'c1', project: 'c', source: 'TRANSACTIONAL', at: month - 1 },
  ]
  await before.write(async (tx) => {
    await insertProjects(tx, ['a', 'b', 'c'], now)
    for (const row of rows) await insertEmail(tx, row, now)
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  const counted = await store.read.select().from(usageMonths).orderBy(usageMonths.projectId)
  assert.deepEqual(counted, [
    ...[
      { projectId: 'a', startsAt: month, transactional: 2, campaigns: 1, workflows: 1, inbound: 0 },
    ],
    ...[
      { projectId: 'b', startsAt: month, transactional: 0, campaigns: 0, workflows: 0, inbound: 1 },
    ],
  ])
})

test('what an earlier version has counted is given back after the update', async (t) => {
  const { before, file } = await openBefore(t, 19)
  const now = Date.now()
  await before.write(async (tx) => {
    await insertProjects(tx, ['a'], now)
    await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      values ('gone', 'a', 'gone@people.test', 1, ${now}, ${now})`)
    const suppressed = { project: 'a', source: 'CAMPAIGN', status: 'SUPPRESSED' }
    for (const id of ['a1', 'a2']) await insertEmail(tx, { id, ...suppressed }, now)
    await tx.run(sql`update emails set contact_id = 'gone' where id = 'a2'`)
    await tx.run(sql`insert into events (id, project_id, name, contact_id, email_id, created_at)
      select id, project_id, 'email.suppressed', contact_id, id, created_at from emails`)
    await tx.run(sql`insert into usage_months (project_id, starts_at, campaigns)
      values ('a', ${monthOf(now)}, 5)`)
    await tx.run(sql`delete from contacts where id = 'gone'`)
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  const follower = startLazyReader({ store, log: silentLog(), now: Date.now }, [usageHandler()])
  await follower.caughtUp()
  await follower.stop()
  const [month] = await store.read.select().from(usageMonths)
  assert.equal(month?.campaigns, 3)
})

async function insertProjects(tx: Tx, ids: readonly string[], now: number): Promise<void> {
  for (const id of ids) {
    await tx.run(sql`insert into projects (id, name, public_key, secret_digest, secret_hint,
      created_at, updated_at) values (${id}, ${id}, ${id}, ${id}, '', ${now}, ${now})`)
    await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
      values (${`k${id}`}, ${id}, ${`${id}@people.test`}, 1, ${now}, ${now})`)
  }
}

async function insertEmail(
  tx: Tx,
  { id, project, source, status = 'PENDING', at, isPlatform = 0 }: Row,
  now: number,
): Promise<void> {
  await tx.run(sql`insert into emails (id, project_id, contact_id, content_id, source_type,
      recipient, recipient_domain, from_address, subject, content_class, is_tracked, message_id, state,
      status, queue_class, give_up_at, is_platform, created_at, updated_at)
    values (${id}, ${project}, ${`k${project}`}, 'none', ${source}, 'x@people.test',
      'people.test', 'a@shop.test', 'Hi', 'TRANSACTIONAL', 1, ${id}, 'delivered',
      ${status}, 1, ${now}, ${isPlatform}, ${at ?? now}, ${now})`)
}
