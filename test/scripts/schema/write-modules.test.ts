import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { describe, it } from 'node:test'
import { SCHEMA_FOLDER, writeModules } from '../../../scripts/schema/write-modules.ts'
import { readMigrations } from '../../../src/store/migrate.ts'

describe('the modules of the schema', () => {
  it('are as the migrations and the annotations make them', () => {
    const old = [...writeModules(readMigrations())].filter(
      ([name, text]) => withoutLayout(readModule(name)) !== withoutLayout(text),
    )
    assert.deepEqual(
      old.map(([name]) => name),
      [],
      'src/store/schema is old: npm run schema',
    )
  })

  const wrong: [title: string, sql: string, message: RegExp][] = [
    [
      'a table that stands in no module',
      'CREATE TABLE gadgets (id TEXT PRIMARY KEY) STRICT',
      /the table gadgets stands in no module/,
    ],
    [
      'a module with a table that is gone',
      'DROP TABLE uploads',
      /the migrations make no table uploads/,
    ],
    [
      'an annotation of a column that is gone',
      'ALTER TABLE backups DROP COLUMN error',
      /the annotation backups.error is of no table or column/,
    ],
    [
      'a view without a column of its table',
      'ALTER TABLE deleted_events ADD COLUMN mood TEXT',
      /the view counted_events has no column mood/,
    ],
  ]
  for (const [title, sql, message] of wrong) {
    it(`refuse ${title}`, () => {
      assert.throws(() => writeModules([...readMigrations(), { sql }]), {
        name: 'TypeError',
        message,
      })
    })
  }
})

function readModule(name: string): string {
  return readFileSync(path.join(SCHEMA_FOLDER, name), 'utf8')
}

/** The formatter breaks lines, and ends broken lists with a comma. */
function withoutLayout(text: string): string {
  return text.replace(/\s+/g, '').replace(/,(?=[)\]}])/g, '')
}
