import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import Database from 'better-sqlite3'
import { buildDatabase } from '../../scripts/bench/seeding/database.ts'
import { startOfWeek } from '../../scripts/bench/seeding/plan.ts'
import { silence } from '../../scripts/bench/seeding/progress.ts'
import { createLog } from '../../src/base/log.ts'
import { compileSql } from '../../src/store/database.ts'
import { sql } from '../../src/store/drizzle.ts'
import { SHELF, shelfNow } from '../../src/store/shelves.ts'
import { openStore } from '../../src/store/store.ts'

const plan = { contacts: 500, events: 2_500, emails: 2_500, at: startOfWeek(Date.now()) }
/** Every table, index and trigger, in an order that does not depend on their place in the file. */
const schemaQuery = 'select type, name, tbl_name, sql from sqlite_master order by type, name'

describe('the seeded database', () => {
  let folder: string
  let seeded: Database.Database
  let again: Database.Database
  let empty: Database.Database

  before(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-seeded-'))
    const build = async (name: string) =>
      new Database(await buildDatabase(path.join(folder, name), plan, silence), { readonly: true })
    ;[seeded, again, empty] = await Promise.all([build('one'), build('two'), openEmpty(folder)])
  })
  after(() => {
    for (const database of [seeded, again, empty]) database?.close()
    rmSync(folder, { recursive: true, force: true })
  })

  it('has the requested number of rows without dangling references', () => {
    const count = (table: string) => seeded.prepare(`select count(*) from ${table}`).pluck().get()
    assert.equal(count('contacts'), 500)
    assert.equal(count('events'), 2_500)
    assert.equal(count('emails'), 2_500)
    assert.deepEqual(seeded.pragma('foreign_key_check'), [])
    assert.deepEqual(seeded.pragma('integrity_check'), [{ integrity_check: 'ok' }])
    const astray = `select count(*) from emails, contacts where contacts.id = contact_id
      and (contacts.email <> recipient or contacts.project_id <> emails.project_id)`
    assert.equal(seeded.prepare(astray).pluck().get(), 0)
  })

  it('has each email on its shelf', () => {
    const { sql: wrong } = compileSql(
      sql`select count(*) from emails where shelf is not ${shelfNow}`,
    )
    assert.equal(seeded.prepare(wrong).pluck().get(), 0)
    const bounced = `select count(*) from emails where shelf = ${SHELF.bounced}`
    assert.notEqual(seeded.prepare(bounced).pluck().get(), 0)
  })

  it('has every table, index and trigger of the program', () => {
    assert.deepEqual(seeded.prepare(schemaQuery).all(), empty.prepare(schemaQuery).all())
    assert.equal(seeded.pragma('journal_mode', { simple: true }), 'wal')
  })

  it('counts contacts and fields as the triggers of the program do', () => {
    const counts = 'select name, contact_count, subscribed_count from projects order by name'
    const fields = 'select * from contact_fields order by project_id, key, kind'
    copyRows({ from: seeded, to: empty, table: 'users' })
    copyRows({ from: seeded, to: empty, table: 'projects' })
    empty.exec('update projects set contact_count = 0, subscribed_count = 0')
    copyRows({ from: seeded, to: empty, table: 'contacts' })
    assert.deepEqual(seeded.prepare(counts).all(), empty.prepare(counts).all())
    assert.deepEqual(seeded.prepare(fields).all(), empty.prepare(fields).all())
    assert.equal(seeded.prepare('select count(distinct key) from contact_fields').pluck().get(), 6)
  })

  it('finds every contact through the search index', () => {
    const found = seeded
      .prepare(`select rowid from contact_search where contact_search match 'gma AND mai'`)
      .pluck()
      .all()
    const wanted = seeded
      .prepare(
        `select number from contacts where email like '%gma%' and email like '%mai%' order by number`,
      )
      .pluck()
      .all()
    assert.deepEqual(found, wanted)
    assert.ok(wanted.length > 100)
    const owed = seeded.prepare('select count(*) from contact_search_backlog').pluck()
    assert.equal(owed.get(), 0)
  })

  it('is in the order of time, and the same in every run', () => {
    const ids = (database: Database.Database, table: string, order: string) =>
      database.prepare(`select id, created_at from ${table} order by ${order}`).raw().all() as [
        string,
        number,
      ][]
    for (const [table, order] of [
      ['contacts', 'number'],
      ['emails', 'rowid'],
      ['events', 'seq'],
    ] as const) {
      const rows = ids(seeded, table, order)
      assert.deepEqual(rows, ids(again, table, order))
      assert.deepEqual(
        rows.map(([, at]) => at),
        rows.map(([, at]) => at).sort((a, b) => a - b),
        table,
      )
      assert.equal(new Set(rows.map(([id]) => id)).size, rows.length)
    }
  })
})

async function openEmpty(folder: string): Promise<Database.Database> {
  const file = path.join(folder, 'empty.db')
  const store = await openStore({ path: file, log: createLog('fatal'), watch: false })
  await store.close()
  return new Database(file)
}

function copyRows(of: { from: Database.Database; to: Database.Database; table: string }): void {
  const rows = of.from.prepare(`select * from ${of.table}`).all() as Record<string, unknown>[]
  const columns = Object.keys(rows[0] ?? {})
  const insert = of.to.prepare(
    `insert into ${of.table} (${columns}) values (${columns.map((name) => `@${name}`)})`,
  )
  for (const row of rows) insert.run(row)
}
