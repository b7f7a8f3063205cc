/** Codes that the server sends have words in every language of the dashboard. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { AREAS } from '../../src/core/areas.ts'
import { nameInLabel } from '../../src/dashboard/logic/jobs.ts'
import { de } from '../../src/dashboard/text/de.ts'
import { en } from '../../src/dashboard/text/en.ts'
import { SHOWN_EVENT_DELETION } from '../../src/features/ground/events/delete.ts'
import { SHOWN_SUPPRESSION_IMPORT } from '../../src/features/mail/suppressions/import-suppressions.ts'
import { SHOWN_REPLAY } from '../../src/features/outreach/webhooks/deliveries/replay-range.ts'
import { SHOWN_BULK_START } from '../../src/features/outreach/workflows/executions/bulk.ts'
import { SHOWN_BULK } from '../../src/features/people/contacts/bulk/result.ts'
import { SHOWN_FIELD_DELETION } from '../../src/features/people/contacts/fields/delete.ts'
import { SHOWN_CONTACT_IMPORT } from '../../src/features/people/import-export/import-contacts.ts'
import { SHOWN_LIST_JOB } from '../../src/features/people/verification/bulk/result.ts'
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

test('each job of the server has words, with what its label names', () => {
  const facts = { filename: 'a.csv', key: 'plan', name: 'order', endpointId: 'x', workflowId: 'y' }
  const kinds = {
    import: SHOWN_CONTACT_IMPORT,
    'suppressions-import': SHOWN_SUPPRESSION_IMPORT,
    'bulk-subscribe': SHOWN_BULK,
    'bulk-unsubscribe': SHOWN_BULK,
    'bulk-delete': SHOWN_BULK,
    'delete-field': SHOWN_FIELD_DELETION,
    'delete-events': SHOWN_EVENT_DELETION,
    verify: SHOWN_LIST_JOB,
    'bulk-start': SHOWN_BULK_START,
    'replay-webhooks': SHOWN_REPLAY,
  }
  const areas = AREAS.flatMap(({ jobs }) =>
    jobs.flatMap((job) => ('shown' in job ? (job.shown ?? []) : [])),
  )
  assert.deepEqual(new Set(Object.values(kinds)), new Set(areas))
  for (const [kind, { labelOf }] of Object.entries(kinds)) {
    const english = (en as Record<string, unknown>)[`work.${kind}`]
    assert.equal(typeof english, 'string', kind)
    assert.ok(`work.${kind}` in de, kind)
    const label = labelOf(facts, kind)
    assert.equal((english as string).replace('{name}', nameInLabel(label)), label)
  }
})
