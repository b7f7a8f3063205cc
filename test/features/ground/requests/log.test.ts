import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import type { Core } from '../../../../src/core/core.ts'
import {
  REQUESTS,
  type RequestLogEntry,
  startRequestLog,
} from '../../../../src/features/ground/requests/log.ts'
import { asc, eq } from '../../../../src/store/drizzle.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { apiRequests } from '../../../../src/store/schema/service.ts'
import { openStore, type Store } from '../../../../src/store/store.ts'
import { deleteExpired } from '../../../../src/work/retention.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { countStatements } from '../../../counted-statements.ts'
import { copyDatabase } from '../../../database-template.ts'

const day = 24 * 60 * 60 * 1000

async function withStore(use: (store: Store) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-requests-'))
  const file = path.join(folder, 'a.db')
  await copyDatabase(file)
  const store = await openStore({ path: file, log: silentLog(), watch: false })
  try {
    await use(store)
  } finally {
    await store.close()
    await rm(folder, { recursive: true })
  }
}

function entry(change: Partial<RequestLogEntry> = {}): RequestLogEntry {
  return {
    id: 'request-1',
    method: 'POST',
    path: '/v1/send',
    statusCode: 200,
    durationMs: 3,
    projectId: 'project-1',
    userId: null,
    caller: 'secret',
    ip: '192.0.2.1',
    userAgent: 'curl/8',
    errorCode: null,
    errorMessage: null,
    requestSizeBytes: 200,
    responseSizeBytes: 100,
    createdAt: 1000,
    ...change,
  }
}

const rows = (store: Store) =>
  store.read.select().from(apiRequests).orderBy(asc(apiRequests.createdAt)).all()

test('requests are recorded at once and written in order when the log stops', async () => {
  await withStore(async (store) => {
    const requests = startRequestLog({ store, log: silentLog() })
    for (let at = 0; at < 600; at += 1) requests.record(entry({ createdAt: at }))
    assert.equal((await rows(store)).length, 0)
    await requests.stop()
    const written = await rows(store)
    assert.equal(written.length, 600)
    assert.equal(written[599]?.createdAt, 599)
    assert.equal(written[0]?.authType, 'apiKey')
  })
})

test('a request without a project has no authentication type, and long texts are cut', async () => {
  await withStore(async (store) => {
    const requests = startRequestLog({ store, log: silentLog() })
    const long = 'x'.repeat(10_000)
    const unknown = { projectId: null, caller: null }
    requests.record(entry({ ...unknown, path: long, userAgent: long, errorCode: 'MISSING_AUTH' }))
    await requests.stop()
    const [row] = await rows(store)
    assert.equal(row?.authType, null)
    assert.equal(row?.path.length, 500)
    assert.equal(row?.userAgent?.length, 500)
    assert.equal(row?.errorCode, 'MISSING_AUTH')
  })
})

test('a batch of lines asks once for its projects, and none names a deleted one', async (t) => {
  const core = await openTestCore(t)
  const counted = countStatements(core.store)
  const [kept, deleted] = [await addProject(core), await addProject(core)]
  await core.store.write((tx) =>
    tx.update(projects).set({ deletedAt: 1 }).where(eq(projects.id, deleted.id)),
  )
  const requests = startRequestLog({ store: { ...core.store, ...counted }, log: silentLog() })
  const ids = [kept.id, deleted.id, 'unknown', null]
  for (const [createdAt, projectId] of [...ids, ...ids].entries()) {
    requests.record(entry({ projectId, createdAt }))
  }
  await requests.stop()
  assert.deepEqual(
    (await rows(core.store)).map(({ projectId }) => projectId),
    [kept.id, null, null, null, kept.id, null, null, null],
  )
  const reads = counted.take().filter((text) => text.startsWith('select'))
  assert.equal(reads.length, 1)
})

test('log lines are lost while the database cannot be written, and requests are not', async () => {
  const warnings: unknown[] = []
  const log = {
    ...silentLog(),
    warn: (line: unknown) => warnings.push(line),
  } as unknown as Core['log']
  const store = { write: () => Promise.reject(new Error('disk full')) } as unknown as Store
  const requests = startRequestLog({ store, log })
  requests.record(entry())
  await requests.stop()
  assert.deepEqual(warnings, [{ lines: 1, error: 'disk full' }])
})

test('old requests are deleted in chunks, and newer ones stay', async () => {
  await withStore(async (store) => {
    const requests = startRequestLog({ store, log: silentLog() })
    for (let at = 0; at < 1100; at += 1) requests.record(entry({ createdAt: at }))
    requests.record(entry({ createdAt: 40 * day }))
    await requests.stop()
    const config = { retention: { requestLogDays: 30 } } as Core['config']
    const deleted = await deleteExpired({ store, config, now: () => 50 * day }, REQUESTS)
    assert.equal(deleted, 1100)
    assert.deepEqual(
      (await rows(store)).map((row) => row.createdAt),
      [40 * day],
    )
  })
})
