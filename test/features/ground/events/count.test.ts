/** Counts events by name: with the right sum, and at most a stretch of rows in each query. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { appendEvents } from '../../../../src/features/ground/events/append.ts'
import { countEventsOf } from '../../../../src/features/ground/events/count.ts'
import { createListTotals } from '../../../../src/features/ground/list-totals.ts'
import { compileSql } from '../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { openTestCore, type TestCore } from '../../../core.ts'

const EACH: Readonly<Record<string, number>> = { a: 95, b: 3, c: 0, d: 40, e: 10 }
const NAMES = Object.keys(EACH)

async function fill({ store }: TestCore) {
  const rows = NAMES.flatMap((name) =>
    Array.from({ length: EACH[name] ?? 0 }, (_, index) => ({
      ...{ projectId: 'p', name, contactId: null, emailId: null, data: null },
      at: Math.floor(index / 3),
    })),
  )
  await store.write((tx) => appendEvents(tx, rows))
}

/** With the rows that each query counted. */
function watch({ store, now }: TestCore, stretch: number) {
  const counted: number[] = []
  const queries: SQL[] = []
  const all = async <Row>(query: SQL): Promise<Row[]> => {
    const rows = await store.scan.all<Row>(query)
    const counts = rows.map((row) => Object(row).count).filter((count) => count !== undefined)
    if (counts.length > 0) counted.push(counts.reduce((sum, count) => sum + count, 0))
    queries.push(query)
    return rows
  }
  const watched = { ...store, scan: { ...store.scan, all } } as TestCore['store']
  return {
    deps: { store: watched, listTotals: createListTotals({ now, stretch }) },
    counted,
    queries,
  }
}

test('a query counts at most a stretch, also of one name that has most events', async (t) => {
  const core = await openTestCore(t)
  await fill(core)
  const names = [...NAMES, ...Array.from({ length: 30 }, (_, at) => `none ${at}`)]
  for (const [stretch, isLong] of [
    [10, true],
    [50, true],
    [1_000, false],
  ] as const) {
    for (const wanted of [['a'], NAMES, names]) {
      const { deps, counted } = watch(core, stretch)
      const total = wanted.reduce((sum, name) => sum + (EACH[name] ?? 0), 0)
      const counts = await countEventsOf(deps, { projectId: 'p', names: wanted })
      assert.deepEqual(counts, { total, isLong })
      assert.ok(Math.max(...counted) <= stretch, `${counted}`)
    }
    const { deps } = watch(core, stretch)
    const range = { projectId: 'p', names, startAt: 2, endAt: 5 }
    assert.equal((await countEventsOf(deps, range)).total, 12 + 12 + 4)
  }
})

test('many short counts are a long one', async (t) => {
  const core = await openTestCore(t)
  await fill(core)
  const { deps } = watch(core, 100)
  const counts = await countEventsOf(deps, { projectId: 'p', names: ['d', 'e', 'a'] })
  assert.deepEqual(counts, { total: 145, isLong: true })
})

test('the events of a name are counted along their index', async (t) => {
  const core = await openTestCore(t)
  await fill(core)
  const { deps, queries } = watch(core, 50)
  await countEventsOf(deps, { projectId: 'p', names: NAMES })
  assert.ok(queries.length > 3)
  for (const query of queries) {
    const text = compileSql(query).sql.replaceAll('?', 'null')
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text}`),
    )
    const steps = plan.map(({ detail }) => detail).join('\n')
    assert.match(steps, /COVERING INDEX events_named \(project_id=\? AND name=\?/)
    assert.doesNotMatch(steps, /TEMP B-TREE/)
  }
})
