/** The list of jobs is asked for every few seconds: indexes answer it. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listJobs } from '../../../../src/features/ground/jobs/list.ts'
import { readShownJobs } from '../../../../src/features/ground/jobs/shown-row.ts'
import { StoreDb } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../core.ts'

test('no query of the list reads the whole table, and the order needs no payload', async (t) => {
  const core = await openTestCore(t)
  const texts: string[] = []
  const recorder = new StoreDb((text, _, shape) => {
    texts.push(text)
    return shape === 'row' || shape === 'record' ? undefined : []
  })
  const deps = { ...core, store: { ...core.store, read: recorder } }
  await listJobs(deps, { projectId: 'p', limit: 20, cursor: undefined })
  await readShownJobs(deps, 'p', ['a', 'b'])
  assert.equal(texts.length, 3)
  const used = ['jobs_unfinished', 'jobs_kept', 'sqlite_autoindex_jobs_1']
  for (const [index, text] of texts.entries()) {
    const rows = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    const plan = rows.map(({ detail }) => detail).join('\n')
    assert.doesNotMatch(plan, /^SCAN (?!json_each)/m, plan)
    assert.match(plan, new RegExp(`SEARCH jobs USING.* INDEX ${used[index]}`), plan)
  }
  for (const text of texts.slice(0, 2)) assert.doesNotMatch(text, /payload|result/)
})
