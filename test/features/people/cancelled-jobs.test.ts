/** Jobs on contacts that are cancelled in the middle: the batch under way counts, and nothing comes after it. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { runBulk, startBulk } from '../../../src/features/people/contacts/bulk/bulk-job.ts'
import { SHOWN_BULK } from '../../../src/features/people/contacts/bulk/result.ts'
import {
  importContacts,
  SHOWN_CONTACT_IMPORT,
} from '../../../src/features/people/import-export/import-contacts.ts'
import {
  runListVerification,
  startListVerification,
} from '../../../src/features/people/verification/bulk/list-job.ts'
import { SHOWN_LIST_JOB } from '../../../src/features/people/verification/bulk/result.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { JobCancelled } from '../../../src/work/jobs/cancelled.ts'
import { loadProgress } from '../../../src/work/jobs/progress.ts'
import { addProject, openTestCore } from '../../core.ts'
import { type ClaimedJob, claimJob, findJob } from '../../work/jobs/running.ts'
import { claim, uploadFile } from './import-export/run-import.ts'

const PEOPLE = 3_000
const FILE = ['email', ...Array.from({ length: PEOPLE }, (_, index) => `p${index}@people.test`)]

async function open(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  /** The parts for a run that is cancelled when it asks for the time again. */
  const until = (job: ClaimedJob, calls: number) => {
    let left = calls
    const now = () => {
      left -= 1
      if (left === 0) job.abort.abort(new JobCancelled())
      return core.now()
    }
    return { ...core, now }
  }
  const saved = (job: ClaimedJob) => loadProgress(core.store.read, job.id)
  return { core, projectId, until, saved }
}

test('a cancelled import has the contacts that its result counts', async (t) => {
  const { core, projectId, until, saved } = await open(t)
  await uploadFile(core, `${FILE.join('\n')}\n`, { projectId })
  const job = await claim(core)
  await assert.rejects(importContacts(until(job, 2), job), JobCancelled)
  const result = SHOWN_CONTACT_IMPORT.partialResult(await saved(job), job.payload) as {
    totalRows: number
    createdCount: number
  }
  assert.ok(result.totalRows > 0 && result.totalRows < PEOPLE, String(result.totalRows))
  assert.equal(result.createdCount, result.totalRows)
  assert.equal(await core.store.read.$count(contacts), result.totalRows)
  const row = await findJob(core.store.read, job.id)
  assert.deepEqual([row?.done, row?.total], [result.totalRows, PEOPLE])
})

test('a cancelled bulk change has changed the contacts that its result counts', async (t) => {
  const { core, projectId, until, saved } = await open(t)
  await uploadFile(core, `${FILE.join('\n')}\n`, { projectId })
  await importContacts(core, await claim(core))
  const selection = { mode: 'query', filter: {}, excludeIds: [] } as const
  await startBulk(core, { projectId, operation: 'unsubscribe', selection })
  const job = await claimJob(core, 'bulk')
  await assert.rejects(runBulk(until(job, 6), job), JobCancelled)
  const result = SHOWN_BULK.partialResult(await saved(job), job.payload) as {
    totalRequested: number
    successCount: number
  }
  assert.ok(result.successCount > 0 && result.successCount < PEOPLE, String(result.successCount))
  assert.equal(result.totalRequested, result.successCount)
  const isOff = sql`${contacts.subscribed} = 0`
  assert.equal(await core.store.read.$count(contacts, isOff), result.successCount)
  const row = await findJob(core.store.read, job.id)
  assert.deepEqual([row?.done, row?.total], [result.successCount, PEOPLE])
})

test('a cancelled verification keeps what it has found since it last saved', async (t) => {
  const { core, projectId, until, saved } = await open(t)
  const emails = Array.from({ length: 900 }, (_, index) => `person ${index}`)
  await startListVerification(core, { projectId, selection: { mode: 'emails', emails } })
  const job = await claimJob(core, 'verify-list')
  await assert.rejects(runListVerification(until(job, 4), job), JobCancelled)
  const result = SHOWN_LIST_JOB.partialResult(await saved(job), job.payload) as { total: number }
  assert.ok(result.total > 0 && result.total < 900, String(result.total))
})
