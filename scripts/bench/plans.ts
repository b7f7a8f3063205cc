/** Shows the query plans (`EXPLAIN QUERY PLAN`) of the contact lists. */
import { chooseQueries } from '../../src/features/people/contacts/list/contact-list.ts'
import type { ContactOrder, ContactScope } from '../../src/features/people/contacts/list/scope.ts'
import { type ContactSource, hitsOf } from '../../src/features/people/contacts/list/search.ts'
import { compileSql } from '../../src/store/database.ts'
import { type SQL, sql } from '../../src/store/drizzle.ts'
import type { SeededServer } from './seeded-server.ts'

type List = {
  name: string
  scope?: Partial<ContactScope>
  source?: ContactSource
} & Partial<ContactOrder>

const LIMIT = 101
const condition = sql`json_extract(contacts.data, '$.plan') = 'pro'`
const none: ContactSource = { kind: 'none' }
const hits: ContactSource = hitsOf('"kel" AND "ell"', 10_000)

const lists: readonly List[] = [
  { name: 'newest first' },
  { name: 'unsubscribed', scope: { subscribed: false } },
  { name: 'by address', sort: 'email', dir: 'asc' },
  { name: 'by address, unsubscribed', sort: 'email', dir: 'asc', scope: { subscribed: false } },
  { name: 'filter', scope: { condition } },
  { name: 'search, some hits', scope: { search: 'keller' }, source: hits },
  { name: 'search, many hits', scope: { search: 'gmail' }, source: { kind: 'scan' } },
]

export function printPlans({ query }: SeededServer): void {
  for (const { name, scope, source = none, sort = 'createdAt', dir = 'desc' } of lists) {
    const after = sort === 'email' ? 'm' : 500_000
    const queries = chooseQueries({
      scope: { projectId: 'big', ...scope },
      source,
      range: { sort, dir, after, limit: LIMIT },
    })
    for (const [which, listQuery] of Object.entries(queries)) {
      console.log(`${name}${which === 'far' ? ', when the next rows do not fill a page' : ''}`)
      for (const step of query((database) => explain(database, listQuery))) console.log(`  ${step}`)
    }
  }
}

type Database = Parameters<Parameters<SeededServer['query']>[0]>[0]

function explain(database: Database, query: SQL): string[] {
  const { sql: text, params } = compileSql(query)
  const values = params.map((value) => (typeof value === 'boolean' ? Number(value) : value))
  const steps = database.prepare(`explain query plan ${text}`).all(values)
  return (steps as { detail: string }[]).map(({ detail }) => detail)
}
