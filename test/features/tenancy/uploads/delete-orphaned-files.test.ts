import assert from 'node:assert/strict'
import { readdirSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { HOUR_MS } from '../../../../src/base/clock.ts'
import { createSchedule } from '../../../../src/core/areas.ts'
import { selectNewest } from '../../../../src/features/ground/newest-first.ts'
import {
  listImageFiles,
  writeImageFile,
} from '../../../../src/features/tenancy/uploads/image-files.ts'
import {
  deleteOrphanedFiles,
  isImageOf,
  NEWEST_UPLOADS,
  selectOrphans,
} from '../../../../src/features/tenancy/uploads/project-images.ts'
import { storeImage } from '../../../../src/features/tenancy/uploads/store-image.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { idTime } from '../../../../src/store/ids.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { uploads } from '../../../../src/store/schema/uploads.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { sample } from './images/samples.ts'

async function open(t: TestContext) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const store = (projectId = project.id) =>
    storeImage(core, { projectId, filename: 'a.png', bytes: sample('png') })
  const files = async () => (await Array.fromAsync(listImageFiles(core.config))).sort()
  return { core, project, store, files }
}

test('the file that a crash left goes after an hour; files of rows stay', async (t) => {
  const { core, store, files } = await open(t)
  const orphan = await writeImageFile(core.config, [sample('gif')])
  await store()
  core.clock.now = idTime(orphan) + HOUR_MS
  await deleteOrphanedFiles(core)
  assert.equal((await files()).length, 2, 'its upload may still run')
  core.clock.now += HOUR_MS
  await deleteOrphanedFiles(core)
  const [row] = await core.store.read.select().from(uploads)
  assert.deepEqual(await files(), [row?.file])
})

test("a deleted project's files go with the next sweep", async (t) => {
  const { core, project, store, files } = await open(t)
  await store()
  const other = await addProject(core)
  await store(other.id)
  await core.store.write((tx) => tx.delete(projects).where(eq(projects.id, project.id)))
  core.clock.now = Date.now() + 2 * HOUR_MS
  const { handlers, cron } = createSchedule(core)
  assert.ok(cron.some(({ kind }) => kind === 'delete-orphaned-images'))
  const job = { signal: AbortSignal.abort() } as never
  await handlers['delete-orphaned-images']?.(job)
  assert.equal((await files()).length, 2, 'a stop of the program ends the sweep')
  await handlers['delete-orphaned-images']?.({ signal: new AbortController().signal } as never)
  const rows = await core.store.read.select().from(uploads)
  assert.equal(rows.length, 1)
  assert.deepEqual(
    await files(),
    rows.map(({ file }) => file),
  )
})

test('files that are no images of the server stay', async (t) => {
  const { core, files } = await open(t)
  await deleteOrphanedFiles(core)
  const folder = path.join(core.config.dataDir, 'uploads', 'ab')
  await mkdir(folder, { recursive: true })
  writeFileSync(path.join(folder, 'notes.txt'), 'mine')
  core.clock.now = Date.now() + 2 * HOUR_MS
  await deleteOrphanedFiles(core)
  assert.deepEqual(readdirSync(folder), ['notes.txt'])
  assert.deepEqual(await files(), [])
})

test('the sweep and the list read indexes', async (t) => {
  const { core } = await open(t)
  const planOf = async (text: string) => {
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    return plan.map(({ detail }) => detail).join('; ')
  }
  assert.match(
    await planOf(selectOrphans.compiled().text),
    /SEARCH uploads USING COVERING INDEX sqlite_autoindex_uploads_2 \(file=\?\)/,
  )
  const own = { where: isImageOf('p'), limit: 20, after: { at: 1, key: 'x' } }
  const page = selectNewest(core, NEWEST_UPLOADS, own).toSQL().sql
  const plan = await planOf(page)
  assert.match(
    plan,
    /SEARCH uploads USING INDEX uploads_newest \(project_id=\? AND created_at<\?\)/,
  )
  assert.doesNotMatch(plan, /TEMP B-TREE/)
})
