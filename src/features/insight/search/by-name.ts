/**
 * Finds campaigns, templates, segments, workflows and domains by a part of their name, in any letter
 * case. A project may have any number of them, so the newest of each kind are looked at.
 */
import { comparable } from '../../../base/nfc.ts'
import { displayDomain } from '../../../formats/address/address.ts'
import type { SearchResult } from '../../../records/search.ts'
import { beginsWithText, containsText } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type Candidate, rankOf, type SearchDeps, type SearchedText } from './candidate.ts'

/** The records of each kind whose names are compared, and those that match and are returned. */
export const MAX_NAMES_SEARCHED = 2_000
const MAX_NAMED = 20

type NamedRow = Pick<SearchResult, 'kind' | 'id' | 'title' | 'detail'>

type NamedKind = { kind: SearchResult['kind']; table: SQL; detail: SQL; isThere: SQL }

const NAMED_KINDS: readonly NamedKind[] = [
  { kind: 'campaign', table: sql`campaigns`, detail: sql`status`, isThere: sql`true` },
  { kind: 'template', table: sql`templates`, detail: sql`type`, isThere: sql`true` },
  { kind: 'segment', table: sql`segments`, detail: sql`type`, isThere: sql`true` },
  {
    kind: 'workflow',
    table: sql`workflows`,
    detail: sql`case when enabled then 'enabled' else 'disabled' end`,
    isThere: sql`deleted_at is null`,
  },
]

export const listProjectDomains = statement<Omit<NamedRow, 'kind'>>(
  () => sql`select id, domain as title, status as detail from domains
    where project_id = ${parameter('projectId')} order by domain
    limit ${sql.raw(String(MAX_NAMES_SEARCHED))}`,
)

export async function searchNames(
  { store }: SearchDeps,
  { projectId, text }: SearchedText,
): Promise<Candidate[]> {
  const wanted = comparable(text)
  const [named, domains] = await Promise.all([
    store.scan.all<NamedRow>(selectNamed({ projectId, text })),
    store.scan.list(listProjectDomains, { projectId }),
  ])
  const own = domains
    .filter(({ title }) => title.includes(wanted) || displayDomain(title).includes(wanted))
    .map((row): NamedRow => ({ kind: 'domain', ...row, title: displayDomain(row.title) }))
  return [...named, ...own.slice(0, MAX_NAMED)].map((row) => ({
    rank: rankOf(comparable(row.title), wanted),
    result: { ...row, workflowId: null },
  }))
}

/**
 * Names that begin with the text stand before others, and new records before old ones. `detail` is read
 * for these alone: in the row it stands behind the body.
 */
export function selectNamed({ projectId, text }: SearchedText): SQL {
  const name = sql`name`
  const parts = NAMED_KINDS.map(
    ({ kind, table, detail, isThere }) => sql`select ${kind} as kind, found.id, name as title,
        (select ${detail} from ${table} where id = found.id) as detail
      from (select id, name from (select id, name, created_at from ${table}
          where project_id = ${projectId} and ${isThere}
          order by created_at desc, id desc limit ${MAX_NAMES_SEARCHED})
        where ${containsText(name, text)}
        order by ${beginsWithText(name, text)} desc, created_at desc, id desc
        limit ${MAX_NAMED}) as found`,
  )
  return sql.join(parts, sql` union all `)
}
