/** Codes that the server sends have words in every language of the dashboard. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { de } from '../../src/dashboard/text/de.ts'
import { en } from '../../src/dashboard/text/en.ts'
import { DISABLED_REASONS, DNS_PURPOSES, SEARCH_KINDS } from '../../src/records/words.ts'

const doctor = path.join(import.meta.dirname, '..', '..', 'src', 'features', 'operation', 'doctor')
const checkIds = globSync('*.ts', { cwd: doctor }).flatMap((file) =>
  [...readFileSync(path.join(doctor, file), 'utf8').matchAll(/^ {2}id: '(\w+)',$/gm)].map(
    ([, id = '']) => id,
  ),
)

const CODES: Readonly<Record<string, readonly string[]>> = {
  dns: DNS_PURPOSES,
  disabled: DISABLED_REASONS,
  kind: SEARCH_KINDS,
  check: checkIds,
}

for (const [prefix, codes] of Object.entries(CODES)) {
  test(`each ${prefix} of the server has words`, () => {
    assert.ok(codes.length > 0)
    for (const [language, table] of Object.entries({ en, de })) {
      const missing = codes.filter((code) => !(`${prefix}.${code}` in table))
      assert.deepEqual(missing, [], language)
    }
  })
}
