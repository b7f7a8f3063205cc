/** The query plans of a search: each part is a search of an index, and none reads a whole table. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  listContactsByPrefix,
  listEmailsOfContacts,
} from '../../../../src/features/insight/search/by-address.ts'
import { findRecordsById } from '../../../../src/features/insight/search/by-id.ts'
import { listProjectDomains, selectNamed } from '../../../../src/features/insight/search/by-name.ts'
import { listFoundEmails } from '../../../../src/features/insight/search/emails.ts'
import { compileSql, type Statement } from '../../../../src/store/database.ts'
import { type SQL, sql } from '../../../../src/store/drizzle.ts'
import { openTestCore } from '../../../core.ts'

const queries: [string, SQL | Statement<unknown>, RegExp][] = [
  ['by id', findRecordsById, /^SEARCH \S+ USING INDEX sqlite_autoindex_\w+ \(id=\?\)/],
  ['contacts', listContactsByPrefix, /USING INDEX contacts_address \(project_id=\? AND email>/],
  ['emails of contacts', listEmailsOfContacts, /INDEX emails_contact \(contact_id=\?\)|rowid=\?/],
  ['emails', listFoundEmails, /^SEARCH emails USING INDEX sqlite_autoindex_emails_1 \(id=\?\)/],
  ['domains', listProjectDomains, /^SEARCH domains USING INDEX \w+ \(project_id=\?\)/],
  ['names', selectNamed({ projectId: '', text: 'a' }), /USING INDEX \w+_newest \(project_id=\?\)/],
]

/** Lists in the query itself, and rows that a part of the query has found. */
const BOUNDED = /^SCAN (json_each|contact|found|\(subquery-\d+\))/

/** Single rows by their id. */
const ONE_ROW =
  /^SEARCH (workflows|contacts|campaigns|templates|segments) USING INDEX sqlite_autoindex_\w+ \(id=\?\)/

test('each part of a search searches an index', async (t) => {
  const { store } = await openTestCore(t)
  for (const [name, query, expected] of queries) {
    const { text } = 'compiled' in query ? query.compiled() : { text: compileSql(query).sql }
    const rows = await store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    const reads = rows.map(({ detail }) => detail).filter((detail) => /^(SCAN|SEARCH)/.test(detail))
    const others = reads.filter((detail) => !BOUNDED.test(detail))
    assert.ok(others.length > 0, name)
    for (const detail of others) {
      const isExpected = expected.test(detail) || ONE_ROW.test(detail)
      assert.ok(isExpected, `${name}: ${rows.map((row) => row.detail).join('\n')}`)
    }
  }
})
