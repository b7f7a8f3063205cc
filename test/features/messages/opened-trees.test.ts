/**
 * The B-trees that the statements of each email open for writing. Each costs about half a microsecond, also
 * when the row does not enter it; what enters costs pages of the log besides. An index whose condition or
 * columns name what a claim or a settlement writes appears here.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRow } from '../../../src/features/messages/accept/email-drafts.ts'
import {
  settleDelivered,
  settleOthers,
} from '../../../src/features/messages/outcome/final-state.ts'
import { claimLanes } from '../../../src/features/messages/queue/claim.ts'
import { countOfMachines, countOfPersons } from '../../../src/features/tracking/record-hits.ts'
import type { Statement } from '../../../src/store/database.ts'
import { openTestCore } from '../../core.ts'
import { treesOpenedBy } from '../../store/opened-trees.ts'

const OPENED: [string, Statement<unknown>, string[]][] = [
  [
    'insert',
    insertRow,
    [
      ...['emails', 'sqlite_autoindex_emails_1'],
      // Of every email.
      ...['emails_contact', 'emails_newest', 'emails_ready'],
      // Of some.
      ...['emails_campaign', 'emails_custom_message_id', 'emails_leased', 'emails_provider'],
      ...['emails_sealed', 'emails_template', 'emails_workflow'],
      // Shelves.
      ...['emails_campaign_shelf', 'emails_ends', 'emails_held', 'emails_parked'],
    ],
  ],
  ['claim', claimLanes, ['emails', 'emails_leased', 'emails_ready']],
  ['delivery', settleDelivered, ['emails', 'emails_leased', 'emails_ready']],
  ['other outcome', settleOthers, ['emails', 'emails_leased', 'emails_provider', 'emails_ready']],
  ['hit of a person', countOfPersons, ['emails']],
  ['hit of a machine', countOfMachines, ['campaign_progress', 'emails']],
]

for (const [name, statement, trees] of OPENED) {
  test(`${name} opens ${trees.length} B-trees for writing`, async (t) => {
    const { store } = await openTestCore(t)
    assert.deepEqual(await treesOpenedBy(store, statement), trees.toSorted())
  })
}
