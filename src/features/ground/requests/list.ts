/**
 * Lists the requests to a project, newest first, by cursor. The index gives the rows of a span of
 * time; a scan thread applies all other filters to these rows one by one. A request looks at a
 * bounded number of rows, so a page of rare requests may be short, even empty, and still have a
 * next page.
 */
import { formatInstant } from '../../../base/clock.ts'
import { unknownCursor } from '../../../base/errors.ts'
import { sealCursor, unsealCursor } from '../../../records/cursor.ts'
import type { RequestRecord } from '../../../records/request.ts'
import { indexedBy, rowNumber } from '../../../store/dialect.ts'
import { type SQL, sql } from '../../../store/drizzle.ts'
import type { Base } from '../base.ts'
import { type CountedEnd, countStretches, type RowCount, withTotal } from '../list-totals.ts'
import { type Listing, pageListing } from '../listing.ts'
import type { RequestLogEntry } from './log.ts'

type RequestCaller = NonNullable<RequestLogEntry['caller']>

export type RequestQuery = {
  projectId: string
  limit: number
  cursor?: string | undefined
  /** The lowest and the highest status, both included. */
  status?: { from: number; to: number } | undefined
  /** The beginning of the path. */
  path?: string | undefined
  caller?: RequestCaller | undefined
  /**
   * The value of `X-Request-ID`. Clients may choose it, so several requests may have the same one.
   */
  requestId?: string | undefined
  /** Epoch ms, both included. */
  startAt?: number | undefined
  endAt?: number | undefined
}

type Deps = Pick<Base, 'store' | 'keyring' | 'listTotals'>
type RequestPosition = { at: number; number: number }
type RequestRow = Omit<RequestRecord, 'createdAt' | 'warning'> & RequestPosition

/**
 * `STRETCH`: the rows that one statement looks at. `MAX_ROWS`: the rows that a request looks at.
 */
const STRETCH = 5_000
const MAX_ROWS = 50_000

/** @throws AppError VALIDATION_ERROR for an invalid cursor */
export async function listRequests(
  deps: Deps,
  query: RequestQuery,
): Promise<Listing<RequestRecord, CountedEnd>> {
  const { limit, cursor, ...filters } = query
  const found: RequestRow[] = []
  let after = findStart(deps, query)
  let isEnd = false
  for (let read = 0; !isEnd && found.length <= limit && read < MAX_ROWS; read += STRETCH) {
    const wanted = limit + 1 - found.length
    const rows = await deps.store.scan.all<RequestRow>(
      selectRequestStretch(query, { after, wanted }),
    )
    found.push(...rows)
    if (rows.length === wanted) break
    const [last] = await deps.store.scan.all<RequestPosition>(selectStretchEnd(query, after))
    isEnd = last === undefined
    after = last
  }
  const lines = found.slice(0, limit)
  const next = found.length > limit ? lines.at(-1) : after
  const cursorOf = ({ at, number }: RequestPosition) => sealCursor(deps, 'requests', [at, number])
  const page = pageListing({
    lines,
    read: async (slice) => slice.map(toRecord),
    cursorOf: (row) => cursorOf(row),
    endCursor: isEnd || next === undefined ? null : cursorOf(next),
  })
  return withTotal(deps, {
    page,
    cursor,
    whole: isEnd ? lines.length : undefined,
    query: { list: 'requests', ...filters },
    count: () => countRequests(deps, query),
  })
}

function countRequests(
  { store, listTotals: { stretch } }: Deps,
  query: RequestQuery,
): Promise<RowCount> {
  return countStretches<RequestPosition>(async (after) => {
    const [end] = await store.scan.all<RequestPosition>(selectStretchEnd(query, after, stretch))
    const [row] = await store.scan.all<{ count: number }>(countStretch(query, { after, stretch }))
    return { count: row?.count ?? 0, end }
  })
}

/** Counts the rows of a stretch that match. */
function countStretch(
  query: RequestQuery,
  { after, stretch }: { after: RequestPosition | undefined; stretch: number },
): SQL {
  const isFiltered = [query.status, query.path, query.caller, query.requestId].some(
    (filter) => filter !== undefined,
  )
  const columns = isFiltered ? sql`id, path, status_code as "statusCode", caller` : sql`1`
  return sql`select count(*) as count
    from (select ${columns} ${rowsOf(query, after)} limit ${stretch})${matching(query)}`
}

/** The rows of a stretch that match, at most `wanted`. */
export function selectRequestStretch(
  query: RequestQuery,
  { after, wanted }: { after: RequestPosition | undefined; wanted: number },
): SQL {
  const rows = sql`select id, method, path, status_code as "statusCode", duration_ms as duration,
      project_id as "projectId", user_id as "userId", auth_type as "authType", caller, ip,
      user_agent as "userAgent", error_code as "errorCode", error_message as "errorMessage",
      request_size_bytes as "requestSize", response_size_bytes as "responseSize",
      created_at as at, ${rowNumber('api_requests')} as number
    ${rowsOf(query, after)} limit ${STRETCH}`
  return sql`select * from (${rows})${matching(query)} limit ${wanted}`
}

/** The last row of a stretch; none if there are fewer rows. */
export function selectStretchEnd(
  query: RequestQuery,
  after: RequestPosition | undefined,
  size = STRETCH,
): SQL {
  return sql`select created_at as at, ${rowNumber('api_requests')} as number
    ${rowsOf(query, after)} limit 1 offset ${size - 1}`
}

/** `at` is also compared by itself, because SQLite does not search the index by the pair. */
function rowsOf(
  { projectId, startAt, endAt }: RequestQuery,
  after: RequestPosition | undefined,
): SQL {
  const row = rowNumber('api_requests')
  const until = Math.min(endAt ?? Number.POSITIVE_INFINITY, after?.at ?? Number.POSITIVE_INFINITY)
  const conditions = [
    sql`project_id = ${projectId}`,
    ...(startAt === undefined ? [] : [sql`created_at >= ${startAt}`]),
    ...(Number.isFinite(until) ? [sql`created_at <= ${until}`] : []),
    ...(after === undefined ? [] : [sql`(created_at, ${row}) < (${after.at}, ${after.number})`]),
  ]
  return sql`from api_requests ${indexedBy('api_requests_project')}
    where ${sql.join(conditions, sql` and `)} order by created_at desc, ${row} desc`
}

function matching({ status, path, caller, requestId }: RequestQuery): SQL {
  const conditions = [
    ...(requestId === undefined ? [] : [sql`id = ${requestId}`]),
    ...(status === undefined ? [] : [sql`"statusCode" between ${status.from} and ${status.to}`]),
    ...(caller === undefined ? [] : [sql`caller = ${caller}`]),
    // Compares as many characters as the path has, because SQLite counts characters and not UTF-16
    // units.
    ...(path === undefined ? [] : [sql`substr(path, 1, ${[...path].length}) = ${path}`]),
  ]
  return conditions.length === 0 ? sql`` : sql` where ${sql.join(conditions, sql` and `)}`
}

function findStart(deps: Deps, { cursor }: RequestQuery): RequestPosition | undefined {
  if (cursor === undefined) return undefined
  const place = unsealCursor(deps, 'requests', cursor)
  const [at, number] = Array.isArray(place) ? place : []
  if (typeof at !== 'number' || typeof number !== 'number') throw unknownCursor()
  return { at, number }
}

/**
 * The log has one column for the message of an error and for a warning. Without a code, the message
 * is a warning.
 */
function toRecord({ at, number: _, ...row }: RequestRow): RequestRecord {
  const isError = row.errorCode !== null
  return {
    ...row,
    errorMessage: isError ? row.errorMessage : null,
    warning: isError ? null : row.errorMessage,
    createdAt: formatInstant(at),
  }
}
