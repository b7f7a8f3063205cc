/** The loop asks after each second with writes: its questions must be answered by indexes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { countUnfinished } from '../../../src/features/ground/enqueue-for-project.ts'
import { StoreDb } from '../../../src/store/database.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import type { Tx } from '../../../src/store/write/transaction.ts'
import { findNextDueJob, isWorkDue } from '../../../src/work/jobs/due.ts'
import {
  claimJobs,
  deleteExpiredJobs,
  deleteForeignTicks,
  deleteSurplusJobs,
  putBackLostJobs,
} from '../../../src/work/jobs/job-row.ts'
import { copyDatabase } from '../../database-template.ts'
import { makeDatabaseFolder } from '../../store/test-store.ts'

test('no query of the job loop reads the whole table', async (t) => {
  const { path } = await makeDatabaseFolder(t)
  await copyDatabase(path)
  const store = await openStore({ path, log: silentLog() })
  t.after(() => store.close())
  const asked: string[] = []
  const recorder = new StoreDb((text, _params, shape) => {
    asked.push(text)
    return shape === 'rows' ? [] : undefined
  }) as unknown as Tx
  const kinds = ['work']
  const groups = [
    { kinds, onePerProject: false },
    { kinds: ['long', 'other-long'], onePerProject: true },
  ]
  await isWorkDue({ read: recorder } as unknown as Store, groups, 1)
  await findNextDueJob({ read: recorder } as unknown as Store, groups, 1)
  for (const group of groups) {
    await claimJobs(recorder, { ...group, limit: 1, now: 1, leaseUntil: 2 })
  }
  await putBackLostJobs(recorder, 1)
  await deleteExpiredJobs(recorder, { completed: 1, failed: 1 })
  await deleteForeignTicks(recorder, kinds)
  await deleteSurplusJobs(recorder, { projectId: 'p', kind: 'work' })
  await recorder.find(countUnfinished, { kind: 'work', projectId: 'p' })
  assert.equal(asked.length, 15)
  for (const text of asked) {
    const plan = await store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    for (const { detail } of plan) {
      assert.doesNotMatch(detail, /^SCAN/, text)
    }
  }
})
