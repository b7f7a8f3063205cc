/** The loop asks every second: its questions must be answered by indexes. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  claimJobs,
  isWorkDue,
  pruneJobs,
  returnLostJobs,
  trimFinished,
} from '../../src/jobs/ledger.ts'
import { silentLog } from '../../src/log.ts'
import { StoreDb } from '../../src/store/database.ts'
import { sql } from '../../src/store/drizzle.ts'
import { openStore, type Store, type Tx } from '../../src/store/store.ts'
import { makePlace } from '../store/fixture.ts'

test('no question of the job loop reads the whole table', async (t) => {
  const { path } = await makePlace(t)
  const store = await openStore({ path, log: silentLog() })
  t.after(() => store.close())
  const asked: string[] = []
  const recorder = new StoreDb((text, _params, shape) => {
    asked.push(text)
    return shape === 'rows' ? [] : undefined
  }) as unknown as Tx
  await isWorkDue({ read: recorder } as unknown as Store, ['work'], 1)
  await claimJobs(recorder, { kinds: ['work'], limit: 1, now: 1, leaseUntil: 2 })
  await returnLostJobs(recorder, 1)
  await pruneJobs(recorder, { completed: 1, failed: 1 })
  await trimFinished(recorder, { projectId: 'p', kind: 'work' })
  assert.equal(asked.length, 9)
  for (const text of asked) {
    const plan = await store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    for (const { detail } of plan) {
      assert.doesNotMatch(detail, /^SCAN jobs(?! USING INDEX jobs_due)/, text)
    }
  }
})
