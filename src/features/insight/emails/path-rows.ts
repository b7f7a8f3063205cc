/**
 * Selects the rows of a path of emails (`email-path.ts`) from a position on, in the order of the
 * path, and counts them.
 */
import { rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../../ground/base.ts'
import { addRowCounts, countStretches, type RowCount } from '../../ground/list-totals.ts'
import {
  chooseEmailPath,
  type EmailFilter,
  type EmailPath,
  type PathDeps,
  type PathKey,
} from './email-path.ts'

export type PathPosition = { at: number; number: number; contactId: string }

/** Rows of a branch that one statement looks at. */
export const STRETCH = 5_000

type BranchRange = { branch: SQL; after: PathPosition | undefined }

export const KEYS = sql`id, created_at as at, ${rowNumber('emails')} as number,
  contact_id as "contactId"`

/** The columns that the conditions of filters use. */
const FILTERED = sql`project_id, status, state, source_type, is_test, recipient, recipient_domain,
  contact_id, campaign_id, template_id, workflow_execution_id, delivered_at, created_at`

export const ORDERS: Record<PathKey, SQL> = {
  created: sql`created_at desc, emails.${rowNumber()} desc`,
  number: sql`emails.${rowNumber()} desc`,
  contact: sql`contact_id desc`,
}

type Deps = Pick<Base, 'listTotals'> & PathDeps

/** Selects the matching rows of a stretch of one branch, at most one more than wanted. */
export function selectPathStretch(path: EmailPath, stretch: BranchRange & { wanted: number }): SQL {
  const rows = sql`select ${KEYS}, ${FILTERED}
    ${rowsOf(path, stretch)} order by ${ORDERS[path.key]} limit ${STRETCH}`
  const matching = path.filter === undefined ? sql`` : sql` where ${path.filter}`
  return sql`select id, at, number, "contactId" from (${rows}) as email${matching}
    limit ${stretch.wanted + 1}`
}

export function rowsOf({ key }: EmailPath, { branch, after }: BranchRange): SQL {
  return sql`from emails ${branch}${after === undefined ? sql`` : isAfter(key, after)}`
}

export async function countEmails(deps: Deps, filter: EmailFilter): Promise<RowCount> {
  const path = await chooseEmailPath(deps, filter)
  const paths = path.rest === undefined ? [path] : [path, path.rest.path]
  const counts: RowCount[] = []
  for (const each of paths) {
    for (const branch of each.branches) {
      const read = async (range: BranchStretch) => {
        const [row] = await deps.store.scan.all<{ count: number }>(countStretch(each, range))
        return row?.count ?? 0
      }
      const { stretch } = deps.listTotals
      counts.push(await countBranch(deps, each, { branch, stretch, read }))
    }
  }
  return addRowCounts(deps, counts)
}

/**
 * The condition for rows after a position. Its first part, `created_at <= …`, lets SQLite search
 * the index.
 */
function isAfter(key: PathKey, { at, number, contactId }: PathPosition): SQL {
  const row = rowNumber('emails')
  if (key === 'contact') return sql` and contact_id < ${contactId}`
  if (key === 'number') return sql` and ${row} < ${number}`
  return sql` and created_at <= ${at} and (created_at, ${row}) < (${at}, ${number})`
}

type BranchStretch = BranchRange & { stretch: number }

type BranchCount = {
  branch: SQL
  stretch: number
  /** Counts the rows of a stretch; undefined ends the count. */
  read(range: BranchStretch): Promise<number | undefined>
}

/** Counts a branch one stretch at a time, and adds up what `read` returns. */
export function countBranch(
  { store }: Pick<Base, 'store'>,
  path: EmailPath,
  { branch, stretch, read }: BranchCount,
): Promise<RowCount> {
  return countStretches<PathPosition>(async (after) => {
    const range = { branch, after, stretch }
    const count = await read(range)
    if (count === undefined) return { count: 0, end: undefined }
    const [end] = await store.scan.all<PathPosition>(findStretchEnd(path, range))
    return { count, end }
  })
}

/** Counts the matching rows of a stretch by status. */
export function countStatuses(path: EmailPath, branch: BranchStretch): SQL {
  const rows = sql`select id, ${FILTERED} ${rowsOf(path, branch)}
    order by ${ORDERS[path.key]} limit ${branch.stretch}`
  const matching = path.ownFilter === undefined ? sql`` : sql` where ${path.ownFilter}`
  return sql`select status, count(*) as count from (${rows}) as email${matching} group by status`
}

/** Selects the last row of a stretch; none if no row follows. */
export function findStretchEnd(path: EmailPath, branch: BranchStretch): SQL {
  return sql`select ${KEYS} ${rowsOf(path, branch)}
    order by ${ORDERS[path.key]} limit 1 offset ${branch.stretch - 1}`
}

/** Counts the matching rows of a stretch. Without a filter, the index alone is read. */
function countStretch(path: EmailPath, branch: BranchStretch): SQL {
  const { ownFilter: filter } = path
  const columns = filter === undefined ? sql`1` : sql`id, ${FILTERED}`
  const rows = sql`select ${columns} ${rowsOf(path, branch)}
    order by ${ORDERS[path.key]} limit ${branch.stretch}`
  return sql`select count(*) as count from (${rows}) as email${filter === undefined ? sql`` : sql` where ${filter}`}`
}
