import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { AREAS, createSchedule, DUTIES } from '../../src/core/areas.ts'
import { getTableName, sql } from '../../src/store/drizzle.ts'
import { openTestCore } from '../core.ts'

test('each folder of features/ is an area that hands in its parts', () => {
  const features = path.join(import.meta.dirname, '../../src/features')
  assert.deepEqual(AREAS.map(({ name }) => name).sort(), readdirSync(features).sort())
})

test('each table stands in one area', async (t) => {
  const core = await openTestCore(t)
  const named = DUTIES.tables.map(({ table }) => getTableName(table)).sort()
  // Without those of the engine, the store's own, and the search index behind its table.
  const rows = await core.store.read.all<{ name: string }>(
    sql`select name from sqlite_schema where type = 'table'
      and name not like 'sqlite_%' and name not like 'contact_search%'
      and name <> 'program_versions'`,
  )
  const others = ['contact_search_backlog']
  assert.deepEqual(named, [...rows.map(({ name }) => name), ...others].sort())
})

test('no two jobs have one name', () => {
  const names = AREAS.flatMap(({ jobs, retentions }) =>
    [...jobs, ...retentions].map(({ name }) => name),
  )
  assert.equal(new Set(names).size, names.length)
})

test('F7: no job that the clock starts is held by a fence', async (t) => {
  const { cron } = createSchedule(await openTestCore(t))
  // A tick makes a new job.
  for (const { kind } of cron) assert.ok(!DUTIES.fencedKinds.includes(kind), kind)
})
