/**
 * The log of API requests, one row each, written in batches after the responses. The log is for
 * people: lines are dropped when too many wait, and when the database cannot write.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import type { Log } from '../../../base/log.ts'
import { listOf } from '../../../store/dialect.ts'
import { and, asc, isNull, lt, lte, sql } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import { apiRequests } from '../../../store/schema/service.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { startLoop } from '../../../work/loop.ts'
import type { Retention } from '../../../work/retention.ts'
import type { Base } from '../base.ts'

export type RequestLogEntry = {
  /** The request id. */
  id: string
  method: string
  /** The path without the query, which may contain personal data. */
  path: string
  statusCode: number
  durationMs: number
  projectId: string | null
  userId: string | null
  caller: 'secret' | 'public' | 'session' | null
  ip: string | null
  userAgent: string | null
  errorCode: string | null
  /** The message of the error. Without an error code: the first warning of the answer. */
  errorMessage: string | null
  requestSizeBytes: number
  responseSizeBytes: number
  createdAt: number
}

export type RequestLog = {
  record(entry: RequestLogEntry): void
  /** Writes the lines that wait. */
  stop(): Promise<void>
}

const FLUSH_AFTER_MS = 1000
/** How long a batch waits for other writes with which it can share a commit. */
const PATIENCE_MS = 30
const BATCH_ROWS = 250
const MAX_WAITING = 20_000
const MAX_TEXT_LENGTH = 500

/**
 * The projects that still exist. Lines are written a moment after their requests, and lines of projects
 * deleted meanwhile are dropped.
 */
const listLiving = statement((db) =>
  db
    .select({ id: projects.id })
    .from(projects)
    .where(and(sql`${projects.id} in ${listOf(parameter('ids'))}`, isNull(projects.deletedAt))),
)

const insertRequest = statement((db) =>
  db.insert(apiRequests).values({
    id: parameter('id'),
    method: parameter('method'),
    path: parameter('path'),
    statusCode: parameter('statusCode'),
    durationMs: parameter('durationMs'),
    projectId: parameter('projectId'),
    userId: parameter('userId'),
    authType: parameter('authType'),
    caller: parameter('caller'),
    ip: parameter('ip'),
    userAgent: parameter('userAgent'),
    errorCode: parameter('errorCode'),
    errorMessage: parameter('errorMessage'),
    requestSizeBytes: parameter('requestSizeBytes'),
    responseSizeBytes: parameter('responseSizeBytes'),
    createdAt: parameter('createdAt'),
  }),
)

/** The number of rows of one write, which takes far less than 20 ms. */
const CHUNK_ROWS = 1000

/** Deletes all lines up to the instant of the 1,000th oldest line. So a line needs no key. */
const deleteChunk = statement((db) => {
  const isOld = lt(apiRequests.createdAt, parameter('before'))
  const last = db
    .select({ createdAt: apiRequests.createdAt })
    .from(apiRequests)
    .where(isOld)
    .orderBy(asc(apiRequests.createdAt))
    .limit(1)
    .offset(CHUNK_ROWS - 1)
  const reach = sql`coalesce((${last}), ${parameter('before')})`
  return db.delete(apiRequests).where(and(isOld, lte(apiRequests.createdAt, reach)))
})

/** Deletes lines of the request log after `retention.request_log_days`. */
export const REQUESTS: Retention = {
  name: 'delete-expired-requests',
  schedule: '0 3 * * *',
  keptMs: ({ requestLogDays }) => requestLogDays * DAY_MS,
  deletions: [{ statement: deleteChunk, index: 'api_requests_age' }],
  pace: { rows: CHUNK_ROWS, rest: 'none' },
}

export function startRequestLog({ store, log }: Pick<Base, 'store' | 'log'>): RequestLog {
  let waiting: RequestLogEntry[] = []
  const loop = startLoop({ run: flush, firstWaitMs: Number.POSITIVE_INFINITY, keepsAlive: false })

  function record(entry: RequestLogEntry): void {
    if (waiting.length >= MAX_WAITING) return
    waiting.push(entry)
    if (waiting.length === 1) loop.wakeWithin(FLUSH_AFTER_MS)
  }

  function flush(): Promise<void> {
    const entries = waiting
    waiting = []
    return writeAll({ store, log }, entries)
  }

  return {
    record,
    async stop() {
      await loop.stop()
      await flush()
    },
  }
}

async function writeAll(
  { store, log }: { store: Base['store']; log: Log },
  entries: readonly RequestLogEntry[],
): Promise<void> {
  for (let from = 0; from < entries.length; from += BATCH_ROWS) {
    const batch = entries.slice(from, from + BATCH_ROWS)
    try {
      await store.write((tx) => insertBatch(tx, batch), { patienceMs: PATIENCE_MS })
    } catch (error) {
      log.warn({ lines: entries.length - from, error: describeError(error) }, 'request log lost')
      return
    }
  }
}

async function insertBatch(tx: Tx, batch: readonly RequestLogEntry[]): Promise<void> {
  const ids = [...new Set(batch.flatMap(({ projectId }) => projectId ?? []))]
  const found = ids.length === 0 ? [] : await tx.list(listLiving, { ids: JSON.stringify(ids) })
  const living: ReadonlySet<string | null> = new Set(found.map(({ id }) => id))
  const rows = batch.map((entry) => ({
    ...entry,
    projectId: living.has(entry.projectId) ? entry.projectId : null,
    path: cut(entry.path),
    userAgent: entry.userAgent === null ? null : cut(entry.userAgent),
    errorMessage: entry.errorMessage === null ? null : cut(entry.errorMessage),
    authType: authTypeOf(entry),
  }))
  await tx.insertRows(insertRequest, rows)
}

function authTypeOf({ caller }: RequestLogEntry): 'apiKey' | 'jwt' | null {
  if (caller === null) return null
  return caller === 'session' ? 'jwt' : 'apiKey'
}

/** Cuts a text, because clients send paths, user agents and names of any length. */
function cut(text: string): string {
  return text.length <= MAX_TEXT_LENGTH ? text : text.slice(0, MAX_TEXT_LENGTH)
}
