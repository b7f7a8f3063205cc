/**
 * The lines of pending mail: walks over them, and the share of each line in the messages that are
 * being parsed or wait to be written. A walk begins where the walk before ended, or with the line
 * whose message found no place. So each line has its turn, however many lines there are.
 */
import type { RowOf } from '../../../../store/database.ts'
import { orderedJoin, unseen } from '../../../../store/dialect.ts'
import { type SQL, sql } from '../../../../store/drizzle.ts'
import { inboundMessages } from '../../../../store/schema/inbound.ts'
import type { PendingKind } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { alternate } from '../../../../turns/alternate.ts'
import type { Base } from '../../../ground/base.ts'

/** The most messages of a kind in progress. */
export const MAX_IN_PROGRESS = 128
/**
 * The most messages of a line in progress. The rest of the places is for other lines; a poll begins
 * enough messages to be worth its cost.
 */
export const MAX_IN_PROGRESS_OF_LINE = 96
const MAX_IN_PROGRESS_BYTES = 16 * 1024 * 1024
/** A text that sorts before every line. */
const FIRST_LINE = ''

/**
 * The kinds of pending mail. They are parsed side by side, because mail may have to wait for DNS
 * and reports never do.
 */
export const PENDING_KINDS: readonly PendingKind[] = ['reports', 'mail']

/** All columns except the octets. */
export const pendingColumns = {
  id: inboundMessages.id,
  receivedAt: inboundMessages.receivedAt,
  reversePath: inboundMessages.reversePath,
  recipients: inboundMessages.recipients,
  clientAddress: inboundMessages.clientAddress,
  clientName: inboundMessages.clientName,
  sizeBytes: inboundMessages.sizeBytes,
  attempts: inboundMessages.attempts,
  isSuspect: inboundMessages.isSuspect,
  interruptions: inboundMessages.interruptions,
  dueAt: inboundMessages.dueAt,
  rawChunks: inboundMessages.rawChunks,
  pendingKind: inboundMessages.pendingKind,
  line: inboundMessages.line,
}

/** SQL: the message is pending and of the kind. Repeats the condition of the index. */
const isPendingOfKind = sql`state = 'pending' and is_suspect = 0 and pending_kind = ${unseen(parameter('kind'))}`

/** A text that sorts after every id. */
const LAST_ID = '~'

type Walk = {
  /** The line with which the walk begins; lines have an order. */
  from: SQL
  /** The most lines that the walk looks at; all lines if absent. */
  maxLines?: SQL
  /**
   * The number of messages of each line, minus one. The expression may count the rows of `lines`.
   */
  share: SQL
}

/**
 * Selects the oldest messages of each line, with their place in the line, and the last line of a
 * walk that may not have come to the end. The lines are found in the index one after the other, so
 * a long line costs no more than a short one.
 */
export function firstOfLines({ from, maxLines, share }: Walk): SQL {
  const ofLine = sql`${isPendingOfKind} and line = lines.line`
  const end = maxLines === undefined ? sql`` : sql`limit ${maxLines}`
  return sql`(with recursive lines (line) as (
      select (select line from inbound_messages where ${isPendingOfKind} and line >= ${from}
        order by line limit 1)
      union all
      select (select line from inbound_messages where ${isPendingOfKind} and line > lines.line
        order by line limit 1) from lines where lines.line is not null ${end})
    select waiting.id, waiting.line, row_number() over (partition by waiting.line order by waiting.id) as place,
        (select case when count(line) = ${maxLines ?? 0} then max(line) end from lines) as last_line
      from lines ${orderedJoin()} (
        select line, id from inbound_messages where ${isPendingOfKind}) as waiting
      where waiting.line = lines.line and waiting.id <= coalesce((
        select id from inbound_messages where ${ofLine} order by id limit 1 offset ${share}),
        ${sql.raw(`'${LAST_ID}'`)}))`
}

const fairShare = sql`(select case when fair < ${parameter('ofLine')} then fair
  else ${parameter('ofLine')} - 1 end from (
    select cast(2 * ${parameter('limit')} / count(*) as integer) as fair from lines))`

/**
 * Selects the first messages of the lines of a walk, then their second ones, and so on: `limit`
 * messages in all, of at most `limit` lines.
 */
export const selectPending = statement((db) => {
  const walk = firstOfLines({
    from: parameter('from'),
    maxLines: unseen(parameter('limit')),
    share: fairShare,
  })
  const first = sql`(select id, last_line from ${walk} order by place, line limit ${unseen(parameter('limit'))}) as first`
  return db
    .select({ ...pendingColumns, lastLine: sql<string | null>`first.last_line` })
    .from(inboundMessages)
    .innerJoin(first, sql`first.id = ${inboundMessages.id}`)
    .orderBy(inboundMessages.line, inboundMessages.id)
})

export type PendingMessage = Omit<RowOf<typeof selectPending>, 'lastLine'>

type LineWalks = {
  /**
   * Returns at most `limit` messages, at most `ofLine` of them from one line, without those that
   * are parsed alone. Lines alternate; each line is in the order of arrival. An empty result means
   * that none is pending.
   */
  list(window: LineWindow): Promise<readonly PendingMessage[]>
  /**
   * Takes back a message that found no place. The next walk begins with its line, unless another
   * message of the line found a place.
   */
  leave(message: PendingMessage): void
}

type LineWindow = { kind: PendingKind; limit: number; ofLine: number }

export function createLineWalks({ store }: Pick<Base, 'store'>): LineWalks {
  /** The line with which the next walk of a kind begins; absent if it is the first line. */
  const next = new Map<PendingKind, string>()
  /**
   * The ids of the first message of each line in the last list. A kind is removed once one of these
   * messages was taken back.
   */
  const firsts = new Map<PendingKind, ReadonlySet<string>>()

  async function walk(window: LineWindow & { from: string }): Promise<readonly PendingMessage[]> {
    const rows = await store.read.list(selectPending, window)
    const lastLine = rows[0]?.lastLine ?? null
    if (lastLine === null) next.delete(window.kind)
    else next.set(window.kind, lastLine)
    return rows
  }

  async function listRows(window: LineWindow): Promise<readonly PendingMessage[]> {
    const from = next.get(window.kind) ?? FIRST_LINE
    const rows = await walk({ ...window, from })
    const limit = window.limit - rows.length
    if (from === FIRST_LINE || limit === 0 || next.has(window.kind)) return rows
    const others = await walk({ ...window, limit, from: FIRST_LINE })
    const ids = new Set(rows.map(({ id }) => id))
    return [...rows, ...others.filter(({ id }) => !ids.has(id))]
  }

  return {
    async list(window) {
      const rows = await listRows(window)
      const ofLines = new Map(rows.toReversed().map(({ line, id }) => [line, id]))
      firsts.set(window.kind, new Set(ofLines.values()))
      return alternate(rows, ({ line }) => line)
    },
    leave({ id, line, pendingKind }) {
      if (firsts.get(pendingKind)?.has(id) !== true) return
      next.set(pendingKind, line)
      firsts.delete(pendingKind)
    },
  }
}

type PendingRow = Pick<PendingMessage, 'id' | 'isSuspect' | 'pendingKind' | 'line' | 'sizeBytes'>

/** The messages in progress, which are being parsed or wait to be written, and the free places. */
type InProgress = {
  add(row: PendingRow): void
  delete(row: PendingRow): void
  has(id: string): boolean
  isEmpty(): boolean
  /** Whether few enough messages of the kind are in progress to list more. */
  isLow(kind: PendingKind): boolean
  /**
   * Whether there is a place for a message that is not parsed alone. The first message fits
   * whatever its size.
   */
  hasCapacityFor(row: PendingRow): boolean
  /** Whether the line of the message has fewer messages in progress than its share. */
  hasShareFor(row: PendingRow): boolean
}

/**
 * Makes an empty set of messages in progress. Messages that are parsed alone only count for `has`
 * and `isEmpty`.
 */
export function createInProgress(): InProgress {
  const ids = new Set<string>()
  const kinds = {
    reports: { count: 0, bytes: 0, lines: new Map<string, number>() },
    mail: { count: 0, bytes: 0, lines: new Map<string, number>() },
  } satisfies Record<PendingKind, object>

  function count({ isSuspect, pendingKind, line, sizeBytes }: PendingRow, sign: 1 | -1): void {
    if (isSuspect) return
    const ofKind = kinds[pendingKind]
    const ofLine = (ofKind.lines.get(line) ?? 0) + sign
    if (ofLine === 0) ofKind.lines.delete(line)
    else ofKind.lines.set(line, ofLine)
    ofKind.count += sign
    ofKind.bytes += sign * sizeBytes
  }

  return {
    add(row) {
      ids.add(row.id)
      count(row, 1)
    },
    delete(row) {
      if (ids.delete(row.id)) count(row, -1)
    },
    has: (id) => ids.has(id),
    isEmpty: () => ids.size === 0,
    isLow: (kind) => kinds[kind].count <= MAX_IN_PROGRESS / 2,
    hasCapacityFor({ pendingKind, sizeBytes }) {
      const { count: others, bytes } = kinds[pendingKind]
      if (others === 0) return true
      return others < MAX_IN_PROGRESS && bytes + sizeBytes <= MAX_IN_PROGRESS_BYTES
    },
    hasShareFor: ({ pendingKind, line }) =>
      (kinds[pendingKind].lines.get(line) ?? 0) < MAX_IN_PROGRESS_OF_LINE,
  }
}
