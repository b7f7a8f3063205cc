/**
 * Counts the emails of a filter by status, if they are not too many: an index tells at once whether the server would
 * look at more than the limit. The rows of the filter's path (`email-path.ts`) are
 * read on scan threads, a stretch in each query, so that scans of other projects run in between. A count runs in the
 * turn of its project (`ground/list-totals.ts`), and ends without counts once it has taken too long.
 */
import type { EmailCounts } from '../../../records/email-query.ts'
import { EMAIL_STATUSES } from '../../../records/words.ts'
import { sql } from '../../../store/drizzle.ts'
import type { EmailStatus } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { chooseEmailPath, type EmailFilter, type EmailPath } from './email-path.ts'
import { type AskedSource, withSource } from './email-source.ts'
import { isNamed } from './list-emails.ts'
import { findNamedEmails } from './named-emails.ts'
import { countBranch, countStatuses, findStretchEnd, type PathPosition } from './path-rows.ts'
import type { WaitingDeps } from './waiting-emails.ts'

type Deps = Pick<Base, 'config' | 'listTotals' | 'now'> & WaitingDeps

type StatusCount = { status: EmailStatus; count: number }

/** The most rows that one request looks at: some hundred milliseconds of a scan thread. */
export const MAX_COUNTED_EMAILS = 200_000
/** With the filter `receiver`, which looks up the server of most emails. */
export const MAX_COUNTED_OF_RECEIVER = 50_000

/** The rows that one query looks at, in some fifty milliseconds. */
const STRETCH = 25_000
const STRETCH_OF_RECEIVER = 10_000

/** After this time a count reads no further stretch. */
const MAX_COUNT_MS = 500

const TOO_MANY: EmailCounts = { counts: null, total: null, tooMany: true }

/** @throws AppError as `Turns.take` */
export function countEmailsByStatus(
  deps: Deps,
  asked: EmailFilter & AskedSource,
  limits: { most: number; stretch: number } = limitsOf(asked),
): Promise<EmailCounts> {
  return deps.listTotals.take(() => countInTurn(deps, asked, limits))
}

async function countInTurn(
  deps: Deps,
  asked: EmailFilter & AskedSource,
  limits: { most: number; stretch: number },
): Promise<EmailCounts> {
  const endAt = deps.now() + MAX_COUNT_MS
  const filter = await withSource(deps, asked)
  const named = await findNamedEmails(deps, filter)
  if (named !== undefined) return toCounts(await countNamed(deps, filter.projectId, named))
  const path = await chooseEmailPath(deps, filter)
  const paths = path.rest === undefined ? [path] : [path, path.rest.path]
  const found: StatusCount[] = []
  let left = limits.most
  for (const each of paths) {
    for (const branch of each.branches) {
      const rest = await countStatusesOf(deps, each, { ...limits, branch, left, found, endAt })
      if (rest === undefined) return TOO_MANY
      left = rest
    }
  }
  return toCounts(found)
}

function limitsOf({ receiver }: EmailFilter) {
  return receiver === undefined
    ? { most: MAX_COUNTED_EMAILS, stretch: STRETCH }
    : { most: MAX_COUNTED_OF_RECEIVER, stretch: STRETCH_OF_RECEIVER }
}

type Branch = {
  branch: EmailPath['branches'][number]
  stretch: number
  /** The number of rows that may still be looked at. */
  left: number
  /** Gets the counts. */
  found: StatusCount[]
  /** When the count ends without counts. */
  endAt: number
}

/**
 * Returns how many rows may be looked at after this branch; undefined if it has more than `left`, or takes too long.
 */
async function countStatusesOf(
  deps: Deps,
  path: EmailPath,
  { branch, stretch, left, found, endAt }: Branch,
): Promise<number | undefined> {
  const { now, store } = deps
  const { scan } = store
  let isCut = false
  const [surplus] = await scan.all<PathPosition>(
    findStretchEnd(path, { branch, after: undefined, stretch: left + 1 }),
  )
  if (surplus !== undefined) return undefined
  const { total: read } = await countBranch(deps, path, {
    ...{ branch, stretch },
    read: async (range) => {
      isCut = now() >= endAt
      if (isCut) return undefined
      found.push(...(await scan.all<StatusCount>(countStatuses(path, range))))
      return stretch
    },
  })
  return isCut ? undefined : Math.max(0, left - read)
}

function countNamed({ store }: Deps, projectId: string, ids: readonly string[]) {
  return store.read.all<StatusCount>(
    sql`select status, count(*) as count from emails where ${isNamed(projectId, ids)} group by status`,
  )
}

function toCounts(found: readonly StatusCount[]): EmailCounts {
  const counts = Object.fromEntries(EMAIL_STATUSES.map((status) => [status, 0])) as Record<
    EmailStatus,
    number
  >
  for (const { status, count } of found) counts[status] += count
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  return { counts, total, tooMany: false }
}
