import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { readCatalogue } from '../../../scripts/schema/read-catalogue.ts'
import { writeTable } from '../../../scripts/schema/write-table.ts'

describe('a table of the schema', () => {
  const columns: [title: string, sql: string, code: string][] = [
    ['a text', 'file_name TEXT NOT NULL', "fileName: text('file_name').notNull()"],
    ['an integer that may be null', 'seen_at INTEGER', "seenAt: integer('seen_at')"],
    ['octets', 'raw BLOB', "raw: blob('raw', { mode: 'buffer' })"],
    ['a key', 'id TEXT PRIMARY KEY', "id: text('id').primaryKey()"],
    [
      'a key that is never given twice',
      'number INTEGER PRIMARY KEY AUTOINCREMENT',
      "number: integer('number').primaryKey({ autoIncrement: true })",
    ],
    [
      'a flag by its name, with its default',
      'is_held INTEGER NOT NULL DEFAULT 1',
      "isHeld: bool('is_held').notNull().default(true)",
    ],
    [
      'a flag by its check',
      'ready INTEGER NOT NULL CHECK (ready IN (0, 1))',
      "ready: bool('ready').notNull()",
    ],
    [
      'words by their check',
      "mood TEXT NOT NULL DEFAULT 'calm' CHECK (mood IN ('calm', 'angry'))",
      "mood: text('mood').$type<'calm' | 'angry'>().notNull().default('calm')",
    ],
    ['a number with its default', 'size INTEGER DEFAULT -1', "size: integer('size').default(-1)"],
    [
      'a default with an apostrophe',
      "note TEXT DEFAULT 'it''s'",
      "note: text('note').default('it\\'s')",
    ],
    [
      'a column with a name and a type of all tables',
      'enabled INTEGER NOT NULL',
      "isEnabled: bool('enabled').notNull()",
    ],
  ]
  for (const [title, sql, code] of columns) {
    it(`has ${title}`, () => {
      assert.equal(
        writeGadgets(`CREATE TABLE gadgets (${sql}) STRICT`),
        `export const gadgets = sqliteTable('gadgets', {\n  ${code},\n})\n`,
      )
    })
  }

  it('has a key of several columns, in the order of the key', () => {
    const sql = `CREATE TABLE gadgets (
      made_at INTEGER NOT NULL, email TEXT NOT NULL, PRIMARY KEY (email, made_at)
    ) STRICT, WITHOUT ROWID`
    assert.match(
      writeGadgets(sql),
      /\}, \(table\) => \[primaryKey\(\{ columns: \[table.address, table.madeAt\] \}\)\]\)/,
    )
  })

  const wrong: [title: string, sql: string, message: RegExp][] = [
    ['a generated column', 'a TEXT, b TEXT AS (upper(a)) STORED', /gadgets.b is generated/],
    ['a type that drizzle would read otherwise', 'a REAL', /gadgets.a is REAL/],
    [
      'a default that is an expression',
      "a INTEGER DEFAULT (unixepoch('now'))",
      /gadgets.a has the default/,
    ],
  ]
  for (const [title, sql, message] of wrong) {
    it(`refuses ${title}`, () => {
      assert.throws(() => writeGadgets(`CREATE TABLE gadgets (${sql}) STRICT`), {
        name: 'TypeError',
        message,
      })
    })
  }
})

function writeGadgets(sql: string): string {
  return writeTable('gadgets', readCatalogue([{ sql }]))
}
