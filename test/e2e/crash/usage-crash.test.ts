import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { startLazyReader } from '../../../src/features/ground/events/readers.ts'
import { usageHandler } from '../../../src/features/ground/usage/follow-events.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { copyDatabase } from '../../database-template.ts'
import { runUntilKilled } from './run-until-killed.ts'
import { LIMIT, makeProjects, openUsageCore } from './usage-child.ts'

const KILLS = 2

type Row = { name: string; used: number; emails: number; failed: number; suppressed: number }

test('after kills the use of each project is equal to its emails that were not stopped', async (t) => {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const database = path.join(folder, 'pillarbox.db')
  await copyDatabase(database)
  const first = await openUsageCore(folder)
  await makeProjects(first)
  await first.close()
  const child = { program: 'usage-child.ts', argument: folder, database, follower: 'billing' }
  for (let round = 0; round < KILLS; round += 1) await runUntilKilled(child)

  const core = await openUsageCore(folder)
  const follower = startLazyReader(core, [usageHandler()])
  await follower.caughtUp()
  await follower.stop()
  const rows = await core.store.read.all<Row>(
    sql`select name, (select sum(transactional) from usage_months
        where project_id = projects.id) as used,
      (select count(*) from emails
        where project_id = projects.id and status not in ('FAILED', 'SUPPRESSED')) as emails,
      (select count(*) from emails where project_id = projects.id and status = 'FAILED') as failed,
      (select count(*) from emails
        where project_id = projects.id and status = 'SUPPRESSED') as suppressed
    from projects order by name`,
  )
  await core.close()
  const [free, limited] = rows
  assert.ok(free && limited)
  t.diagnostic(
    `${free.emails} emails count, ${free.failed} failed, ${free.suppressed} were suppressed`,
  )
  assert.ok(free.emails > 0 && free.failed > 0 && free.suppressed > 0)
  assert.equal(free.used, free.emails)
  assert.equal(limited.used, limited.emails)
  assert.ok(limited.used <= LIMIT, `${limited.used} are over the limit`)
})
