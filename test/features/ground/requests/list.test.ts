import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { AppError } from '../../../../src/base/errors.ts'
import {
  type RequestQuery,
  selectRequestStretch,
  selectStretchEnd,
} from '../../../../src/features/ground/requests/list.ts'
import { startRequestLog } from '../../../../src/features/ground/requests/log.ts'
import { sealCursor } from '../../../../src/records/cursor.ts'
import { compileSql } from '../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { apiRequests } from '../../../../src/store/schema/service.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { listRequests } from '../../../lists.ts'
import { addRequest } from './add-request.ts'

async function open(t: TestContext) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  const list = (query: Partial<RequestQuery> = {}) =>
    listRequests(core, { projectId: project.id, limit: 20, ...query })
  return {
    core,
    project,
    list,
    ids: async (query: Partial<RequestQuery> = {}) => (await list(query)).data.map(({ id }) => id),
    async add(...entries: Partial<Parameters<typeof addRequest>[1]>[]): Promise<string[]> {
      const ids: string[] = []
      for (const entry of entries) {
        core.clock.now += 1_000
        ids.push(await addRequest(core, { projectId: project.id, ...entry }))
      }
      return ids
    },
  }
}

test('a line of the log is shown with all that is known of its request', async (t) => {
  const { core, project, list } = await open(t)
  const log = startRequestLog(core)
  log.record({
    ...{ id: 'r-1', method: 'POST', path: '/v1/send', statusCode: 422, durationMs: 7 },
    ...{ projectId: project.id, userId: null, caller: 'secret', ip: '192.0.2.7' },
    ...{ userAgent: 'shop/1', errorCode: 'VALIDATION_ERROR', errorMessage: 'Not valid.' },
    ...{ requestSizeBytes: 10, responseSizeBytes: 20, createdAt: 1_000 },
  })
  await log.stop()
  assert.deepEqual(await list(), {
    data: [
      {
        ...{ id: 'r-1', method: 'POST', path: '/v1/send', statusCode: 422, duration: 7 },
        ...{ projectId: project.id, userId: null, authType: 'apiKey', caller: 'secret' },
        ...{ ip: '192.0.2.7', userAgent: 'shop/1', errorCode: 'VALIDATION_ERROR' },
        ...{ errorMessage: 'Not valid.', warning: null, requestSize: 10, responseSize: 20 },
        createdAt: '1970-01-01T00:00:01.000Z',
      },
    ],
    cursor: null,
    hasMore: false,
    total: 1,
  })
})

test('a message without a code is a warning, and is cut', async (t) => {
  const { core, project, list } = await open(t)
  const log = startRequestLog(core)
  log.record({
    ...{ id: 'r-1', method: 'POST', path: '/contacts', statusCode: 201, durationMs: 7 },
    ...{ projectId: project.id, userId: null, caller: 'secret', ip: null, userAgent: null },
    ...{ errorCode: null, errorMessage: `name: ${'x'.repeat(1_000)}` },
    ...{ requestSizeBytes: 10, responseSizeBytes: 20, createdAt: 1_000 },
  })
  await log.stop()
  const { data } = await list()
  const [line] = data as { errorMessage: string | null; warning: string | null }[]
  assert.equal(line?.errorMessage, null)
  assert.equal(line?.warning, `name: ${'x'.repeat(494)}`)
})

test('requests are listed newest first, those of the project only', async (t) => {
  const { core, ids, add } = await open(t)
  const [first, second] = await add({}, {})
  const other = await addProject(core)
  const theirs = await addRequest(core, { projectId: other.id })
  assert.deepEqual(await ids(), [second, first])
  assert.deepEqual(await ids({ projectId: other.id }), [theirs])
})

test('each filter finds its requests, alone and with others', async (t) => {
  const { core, ids, add } = await open(t)
  const [ok, missing, limited, broken, paged] = await add(
    { path: '/v1/send', caller: 'public' },
    { path: '/contacts/1', statusCode: 404 },
    { path: '/contacts', statusCode: 429, caller: 'session' },
    { path: '/v1/track', statusCode: 500 },
    { path: '/contäcts😀/x', caller: 'session' },
  )
  const at = core.now() - 4_000
  const cases: [Partial<RequestQuery>, (string | undefined)[]][] = [
    [{ status: { from: 400, to: 499 } }, [limited, missing]],
    [{ status: { from: 429, to: 429 } }, [limited]],
    [{ path: '/contacts' }, [limited, missing]],
    [{ path: '/v1/' }, [broken, ok]],
    [{ path: '/contäcts😀/' }, [paged]],
    [{ path: '/Contacts' }, []],
    [{ path: '/%' }, []],
    [{ caller: 'session' }, [paged, limited]],
    [{ caller: 'public' }, [ok]],
    [{ startAt: at + 1_000, endAt: at + 2_000 }, [limited, missing]],
    [{ startAt: at + 4_000 }, [paged]],
    [{ path: '/contacts', status: { from: 429, to: 429 }, caller: 'session' }, [limited]],
    [{ path: '/contacts', caller: 'public' }, []],
  ]
  for (const [query, expected] of cases) {
    assert.deepEqual(await ids(query), expected, JSON.stringify(query))
  }
})

test('requests of one instant come on one page each, none twice', async (t) => {
  const { core, project, list } = await open(t)
  const added = new Set<string>()
  for (let index = 0; index < 7; index += 1) {
    added.add(await addRequest(core, { projectId: project.id, createdAt: 5_000 }))
  }
  const seen: string[] = []
  let cursor: string | undefined
  do {
    const page = await list({ limit: 3, cursor })
    assert.equal(page.hasMore, page.cursor !== null)
    seen.push(...page.data.map(({ id }) => id))
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
  assert.equal(seen.length, 7)
  assert.deepEqual(new Set(seen), added)
})

test('a page of rare requests looks at a bounded number of rows, and the next goes on', async (t) => {
  const { core, project, list } = await open(t)
  const [rare] = [await addRequest(core, { projectId: project.id, statusCode: 429, createdAt: 1 })]
  await core.store.write((tx) =>
    tx.run(sql`with recursive n (i) as (select 2 union all select i + 1 from n where i < 60000)
      insert into api_requests (id, method, path, status_code, duration_ms, project_id, created_at)
      select 'r' || i, 'GET', '/contacts', 200, 1, ${project.id}, i from n`),
  )
  const wanted = { status: { from: 429, to: 429 } }
  const first = await list(wanted)
  assert.deepEqual([first.data.length, first.hasMore], [0, true])
  const second = await list({ ...wanted, cursor: first.cursor ?? undefined })
  assert.deepEqual(
    second.data.map(({ id }) => id),
    [rare],
  )
  assert.equal(second.cursor, null)
  const { data, hasMore } = await list({ limit: 100 })
  assert.deepEqual([data.length, data[0]?.id, hasMore], [100, 'r60000', true])
})

test('cursors that this list did not give are refused', async (t) => {
  const { core, list } = await open(t)
  const others = [
    ...['garbage', '1_2', sealCursor(core, 'emails', [1, 2])],
    ...[sealCursor(core, 'requests', 'x'), sealCursor(core, 'requests', ['1', '2'])],
  ]
  for (const cursor of others) {
    await assert.rejects(list({ cursor }), (error) => {
      assert.ok(error instanceof AppError)
      assert.deepEqual([error.status, error.fields?.[0]?.field], [422, 'cursor'])
      return true
    })
  }
})

test('a page reads the index of the project, with any filter', async (t) => {
  const { core } = await open(t)
  const planOf = async (query: SQL) => {
    const { sql: text } = compileSql(query)
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    return plan.map(({ detail }) => detail).join('; ')
  }
  const after = { at: 1, number: 1 }
  const filters = {
    status: { from: 400, to: 499 },
    path: '/v1/',
    caller: 'secret' as const,
    requestId: 'r',
  }
  const query = { projectId: 'p', limit: 20, ...filters, startAt: 1 }
  const index =
    /SEARCH api_requests USING (COVERING )?INDEX api_requests_project \(project_id=\? AND created_at>\? AND created_at<\?\)/
  for (const text of [
    selectRequestStretch(query, { after, wanted: 21 }),
    selectStretchEnd(query, after),
  ]) {
    const plan = await planOf(text)
    assert.match(plan, index)
    assert.doesNotMatch(plan, /TEMP B-TREE/)
  }
  assert.equal(await core.store.read.$count(apiRequests), 0)
})
