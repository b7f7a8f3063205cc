import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import {
  createImportFile,
  deleteExpiredImportFiles,
  findImport,
} from '../../../../src/features/people/import-export/import-file.ts'
import { importChunks, jobs } from '../../../../src/store/schema/jobs.ts'
import { failJob } from '../../../../src/work/jobs/job-row.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { claim, countChunks, uploadFile } from './run-import.ts'

test('a file is stored chunk by chunk, and its job is enqueued with the last chunk', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  let notifications = 0
  t.after(core.jobNotifier.listen(() => (notifications += 1)))
  const upload = createImportFile(core, { projectId, kind: 'import' })
  const bytes = Buffer.alloc(200_000, 'abcdefghij')
  for (let at = 0; at < bytes.length; at += 30_000)
    await upload.write(bytes.subarray(at, at + 30_000))
  assert.equal(await countChunks(core), 2)
  assert.equal(await core.store.read.$count(jobs), 0)
  const options = { filename: 'a.csv', mapping: [], areStrings: false, subscribed: true }
  const id = await upload.finish(options)
  assert.equal(notifications, 1)
  assert.equal(id, `import-${projectId}-${core.clock.now}`)
  const chunks = await core.store.read
    .select()
    .from(importChunks)
    .orderBy(importChunks.number)
    .all()
  assert.deepEqual(Buffer.concat(chunks.map((chunk) => chunk.bytes)), bytes)
  assert.ok(chunks.every((chunk) => chunk.bytes.length < 100_000))
  const { data, ...status } = await findImport(core, { projectId, id, kind: 'import' })
  assert.deepEqual(data, {
    filename: 'a.csv',
    sizeBytes: 200_000,
    mapping: {},
    types: 'values',
    subscribed: true,
    resubscribe: false,
    dryRun: false,
  })
  assert.equal(status.state, 'waiting')
})

test('two files in one millisecond become two jobs', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const ids = await Promise.all([1, 2, 3].map(() => uploadFile(core, 'email\n', { projectId })))
  assert.equal(new Set(ids).size, 3)
})

test('a discarded upload leaves no rows', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const upload = createImportFile(core, { projectId, kind: 'import' })
  await upload.write(Buffer.alloc(150_000))
  assert.equal(await countChunks(core), 1)
  await upload.discard()
  assert.equal(await countChunks(core), 0)
})

test('a failure to delete a discarded upload is not an error', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  let tries = 0
  const write = () => {
    tries += 1
    return Promise.reject(new TypeError('The store is closed.'))
  }
  const store = { ...core.store, write }
  await createImportFile({ ...core, store }, { projectId, kind: 'import' }).discard()
  assert.equal(tries, 1)
})

test('a chunk that cannot be stored rejects, and no job is enqueued', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const store = { ...core.store, write: () => Promise.reject(new Error('disk full')) }
  const upload = createImportFile({ ...core, store }, { projectId, kind: 'import' })
  await assert.rejects(upload.write(Buffer.alloc(70_000)), /disk full/)
  assert.equal(await core.store.read.$count(jobs), 0)
})

test('deleteExpiredImportFiles deletes only files that no job will read', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  // Ids of uploads carry the time of the machine.
  core.clock.now = Date.now()
  await uploadFile(core, 'email\ndead@dest.test\n', { projectId })
  const lost = await claim(core)
  const failure = { error: 'no', retryAt: null, now: core.clock.now }
  await core.store.write((tx) => failJob(tx, lost, failure))
  await uploadFile(core, 'email\nwaiting@dest.test\n', { projectId })
  const upload = createImportFile(core, { projectId, kind: 'import' })
  await upload.write(Buffer.alloc(70_000))
  assert.equal(await countChunks(core), 3)
  await deleteExpiredImportFiles(core)
  assert.equal(await countChunks(core), 3, 'they are young')
  core.clock.now += 2 * HOUR_MS
  await deleteExpiredImportFiles(core)
  assert.equal(await countChunks(core), 1)
  const job = await claim(core)
  const [chunk] = await core.store.read.select().from(importChunks).all()
  assert.equal(chunk?.uploadId, (job.payload as { uploadId: string }).uploadId)
})
