/**
 * Released migrations never change: databases of the field have applied them, and would keep the old
 * tables while counting as current.
 */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { readMigrations } from '../../src/store/migrate.ts'

/** SHA-256 of each released file. A release adds its new migrations here. */
const RELEASED: Record<string, string> = {
  '0001_initial.sql': 'c8a9e03461bbab0a437593da33d3697e62312df328c65d00dde6912ba19c1a92',
  '0002_idempotency_answer.sql': 'd4ed3e145158ff3acbe6985f3150d55be71df6e3ea6f0877a51723b8807d22c5',
  '0003_held_suppressions.sql': '0e64f83548fc1ab6b7261f2036522791c513af3f80af2aa72352d0b50927ec27',
  '0004_questions.sql': '888c718fa6e2f1f34192512f9d2466b467878c5dfc3afed5333176e59952b65d',
  '0005_inbound.sql': '4342bb1aab8b90c04561050d85d815c4037d98ca6a05a589eba66d4ed65bf547',
  '0006_template_faults.sql': 'eb73ba306a9dd768bc758eb4f998ad5b0c3787ee5b54d4d287128f8bbcb21a5d',
  '0007_chunks.sql': '7bba67c33de617cfe64978b874e96b4b60e3b37093e7e4e4eb6e0426130576f6',
}

test('released migrations are unchanged', () => {
  const sqlByName = new Map(readMigrations().map(({ name, sql }) => [name, sql]))
  for (const [name, sum] of Object.entries(RELEASED)) {
    const sql = sqlByName.get(name)
    assert.ok(sql !== undefined, `${name} is released and must not be renamed or deleted`)
    assert.equal(
      hash('sha256', sql),
      sum,
      `${name} is released: restore it, and write a new migration instead`,
    )
  }
})

test('unreleased migrations have the highest numbers', () => {
  const names = readMigrations().map(({ name }) => name)
  const released = names.filter((name) => name in RELEASED)
  assert.deepEqual(released, names.slice(0, released.length))
  assert.ok(released.length >= 7)
})
