/** Batches find their contacts by their keys, and pages go on where the last one ended. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { selectExisting } from '../../../../src/features/people/contacts/bulk/existing.ts'
import { deleteKey, selectHolders } from '../../../../src/features/people/contacts/fields/delete.ts'
import { selectValues } from '../../../../src/features/people/contacts/fields/values.sqlite.ts'
import { updateByAddress } from '../../../../src/features/people/contacts/write/set-subscribed.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../core.ts'

const byPlace =
  /USING (COVERING )?INDEX contacts_order \(project_id=\? AND subscribed=\? AND rowid>\?/

const expectations: [string, Statement<unknown>, RegExp][] = [
  ['contacts of a batch', selectExisting, /USING INDEX sqlite_autoindex_contacts_1 \(id=\?\)/],
  ['a key of a batch', deleteKey, /USING INTEGER PRIMARY KEY \(rowid=\?\)/],
  ['who has a key', selectHolders, byPlace],
  ['a contact that changes', updateByAddress, /contacts_address \(project_id=\? AND email=\?\)/],
  [
    'values of a half',
    selectValues,
    /USING INDEX contacts_order \(project_id=\? AND subscribed=\?\)/,
  ],
]

test('no batch and no page of a long job reads more contacts than its own', async (t) => {
  const { store } = await openTestCore(t)
  for (const [name, statement, place] of expectations) {
    const text = statement.compiled().text.replaceAll('?', 'null')
    const plan = await store.read.all<{ detail: string }>(sql.raw(`explain query plan ${text}`))
    const ways = plan.map(({ detail }) => detail).filter((detail) => /contacts/.test(detail))
    const unsorted = plan.filter(({ detail }) => /TEMP B-TREE FOR ORDER/.test(detail))
    assert.ok(ways.length > 0, name)
    for (const way of ways) assert.match(way, place, name)
    assert.deepEqual(unsorted, [], name)
  }
})
