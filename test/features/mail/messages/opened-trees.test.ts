/**
 * The B-trees that the statements of each email open for writing. Each costs about half a microsecond, also
 * when the row does not enter it; what enters costs pages of the log besides. An index whose condition or
 * columns name what a claim or a settlement writes appears here.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { insertRow } from '../../../../src/features/mail/messages/accept/email-drafts.ts'
import {
  settleDelivered,
  settleOthers,
  settleShelved,
} from '../../../../src/features/mail/messages/outcome/final-state.ts'
import { claimLanes } from '../../../../src/features/mail/messages/queue/claim.ts'
import { deferLane, makeDue } from '../../../../src/features/mail/messages/queue/put-back.ts'
import {
  countOfMachines,
  countOfPersons,
} from '../../../../src/features/mail/tracking/record-hits.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore, type TestCore } from '../../../core.ts'

const QUEUE = ['emails', 'emails_leased', 'emails_ready']
const SHELVES = ['emails_campaign_shelf', 'emails_ends', 'emails_held', 'emails_parked']

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
      ...SHELVES,
    ],
  ],
  ['claim', claimLanes, QUEUE],
  ['delivery', settleDelivered, QUEUE],
  ['delivery from a shelf', settleShelved, [...QUEUE, ...SHELVES, 'emails_sealed']],
  ['other outcome', settleOthers, [...QUEUE, ...SHELVES, 'emails_provider', 'emails_sealed']],
  ['putting back', makeDue, [...QUEUE, ...SHELVES]],
  ['deferring what waits', deferLane, ['emails', 'emails_ready', ...SHELVES]],
  ['hit of a person', countOfPersons, ['emails']],
  ['hit of a machine', countOfMachines, ['campaign_progress', 'emails']],
]

for (const [name, statement, trees] of OPENED) {
  test(`${name} opens ${trees.length} B-trees for writing`, async (t) => {
    const core = await openTestCore(t)
    assert.deepEqual(await treesOpenedBy(core, statement), trees.toSorted())
  })
}

async function treesOpenedBy(
  { store }: TestCore,
  statement: Statement<unknown>,
): Promise<string[]> {
  const parameters = statement.compiled().text.replaceAll('?', 'null')
  return store.write(async (tx) => {
    const steps = await tx.all<{ opcode: string; p2: number }>(sql.raw(`explain ${parameters}`))
    const trees = await tx.all<{ name: string; rootpage: number }>(
      sql`select name, rootpage from sqlite_schema`,
    )
    const names = new Map(trees.map(({ name, rootpage }) => [rootpage, name]))
    return steps
      .filter(({ opcode }) => opcode === 'OpenWrite')
      .map(({ p2 }) => names.get(p2) ?? String(p2))
      .toSorted()
  })
}
