/**
 * Counts the emails of a filter by status, if they are not too many: an index tells at once whether the server would
 * look at more than the limit. The rows of the filter's path (`email-path.ts`) are
 * read on scan threads, a stretch in each query, so that scans of other projects run in between. A count runs in the
 * turn of its project (`ground/list-totals.ts`). Once it has taken too long, it begins no further scan and ends without
 * counts, whatever it looks at: the mail that waits, the contacts of a search, the size of a path or its stretches.
 */
import type { EmailCounts } from '../../../records/email-query.ts'
import { EMAIL_STATUSES } from '../../../records/words.ts'
import { sql } from '../../../store/drizzle.ts'
import type { EmailStatus } from '../../../store/schema/words.ts'
import type { Base } from '../../ground/base.ts'
import { chooseEmailPath, type EmailFilter, type EmailPath, type PathDeps } from './email-path.ts'
import { type AskedSource, withSource } from './email-source.ts'
import { isNamed } from './list-emails.ts'
import { findNamedEmails } from './named-emails.ts'
import { countBranch, countStatuses, findStretchEnd, type PathPosition } from './path-rows.ts'

type Deps = Pick<Base, 'listTotals' | 'now'> & PathDeps

type StatusCount = { status: EmailStatus; count: number }

/** The most rows that one request looks at: some hundred milliseconds of a scan thread. */
export const MAX_COUNTED_EMAILS = 200_000
/** With the filter `receiver`, which looks up the server of most emails. */
export const MAX_COUNTED_OF_RECEIVER = 50_000

/** The rows that one query looks at, in some fifty milliseconds. */
const STRETCH = 25_000
const STRETCH_OF_RECEIVER = 10_000

/** After this time a count begins no further scan. A scan itself cannot be stopped; each looks at a bounded number of rows. */
const MAX_COUNT_MS = 500

const TOO_MANY: EmailCounts = { counts: null, total: null, tooMany: true }

/** Ends a count that has taken too long. */
class LateCount extends Error {}

/** @throws AppError as `Turns.take` */
export function countEmailsByStatus(
  deps: Deps,
  asked: EmailFilter & AskedSource,
  limits: { most: number; stretch: number } = limitsOf(asked),
): Promise<EmailCounts> {
  return deps.listTotals.take(async () => {
    try {
      return await countInTurn(withEnd(deps, deps.now() + MAX_COUNT_MS), asked, limits)
    } catch (error) {
      if (error instanceof LateCount) return TOO_MANY
      throw error
    }
  })
}

/** The parts with a reader that refuses to begin a scan at `endAt` or later. */
function withEnd<Parts extends Deps>(deps: Parts, endAt: number): Parts {
  const scan = new Proxy(deps.store.scan, {
    get(reader, name) {
      const value = Reflect.get(reader, name)
      if (typeof value !== 'function') return value
      return (...input: unknown[]) => {
        if (deps.now() >= endAt) throw new LateCount()
        return value.apply(reader, input)
      }
    },
  })
  return { ...deps, store: { ...deps.store, scan } }
}

async function countInTurn(
  deps: Deps,
  asked: EmailFilter & AskedSource,
  limits: { most: number; stretch: number },
): Promise<EmailCounts> {
  const filter = await withSource(deps, asked)
  const named = await findNamedEmails(deps, filter)
  if (named !== undefined) return toCounts(await countNamed(deps, filter.projectId, named))
  const path = await chooseEmailPath(deps, filter)
  const paths = path.rest === undefined ? [path] : [path, path.rest.path]
  const found: StatusCount[] = []
  let left = limits.most
  for (const each of paths) {
    for (const branch of each.branches) {
      const rest = await countStatusesOf(deps, each, { ...limits, branch, left, found })
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
}

/** Returns how many rows may be looked at after this branch; undefined if it has more than `left`. */
async function countStatusesOf(
  deps: Deps,
  path: EmailPath,
  { branch, stretch, left, found }: Branch,
): Promise<number | undefined> {
  const { scan } = deps.store
  const [surplus] = await scan.all<PathPosition>(
    findStretchEnd(path, { branch, after: undefined, stretch: left + 1 }),
  )
  if (surplus !== undefined) return undefined
  const { total: read } = await countBranch(deps, path, {
    ...{ branch, stretch },
    read: async (range) => {
      found.push(...(await scan.all<StatusCount>(countStatuses(path, range))))
      return stretch
    },
  })
  return Math.max(0, left - read)
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
