/**
 * Finds pending rows and writes their final state. `accept/accept-message.ts` inserts them, `lines.ts`
 * lists them; `suspects.ts` handles those that are parsed alone.
 */
import type { RowOf } from '../../../../store/database.ts'
import { listOf, orderedJoin, unindexed, unseen } from '../../../../store/dialect.ts'
import { eq, type SQL, sql } from '../../../../store/drizzle.ts'
import { overwriting } from '../../../../store/overwrite.sqlite.ts'
import { type InboundMessage, inboundMessages } from '../../../../store/schema/inbound.ts'
import type { InboundKind, PendingKind } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { readRaw, replaceRaw } from '../raw.ts'

/** Both kinds are parsed side by side: mail may have to wait for DNS, reports never do. */
export const PENDING_KINDS: readonly PendingKind[] = ['reports', 'mail']

/** All columns but the octets. */
export const columns = {
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

/** The condition repeats that of the index. */
const isPendingOfKind = sql`state = 'pending' and is_suspect = 0 and pending_kind = ${unseen(parameter('kind'))}`

/** Greater than every id. */
const LAST_ID = '~'

type PendingWalk = {
  /** Where the walk begins, in the order of lines. */
  from: SQL
  /** The number of lines that the walk looks at; all if absent. */
  maxLines?: SQL
  /**
   * The number of messages of each line, less one. The expression may count the rows of `lines`.
   */
  share: SQL
}

/**
 * The oldest messages of each line, with their place in it, and the last line of a walk that may not have
 * come to the end. The lines are found one after the other in the index, so that a long line costs no
 * more than a short one.
 */
export function firstOfLines({ from, maxLines, share }: PendingWalk): SQL {
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
 * The first messages of the lines of a walk, then their second ones, and so on, `limit` in all; a walk looks at
 * no more lines.
 */
export const selectPending = statement((db) => {
  const walk = firstOfLines({
    from: parameter('from'),
    maxLines: unseen(parameter('limit')),
    share: fairShare,
  })
  const first = sql`(select id, last_line from ${walk} order by place, line limit ${unseen(parameter('limit'))}) as first`
  return db
    .select({ ...columns, lastLine: sql<string | null>`first.last_line` })
    .from(inboundMessages)
    .innerJoin(first, sql`first.id = ${inboundMessages.id}`)
    .orderBy(inboundMessages.line, inboundMessages.id)
})

export type PendingMessage = Omit<RowOf<typeof selectPending>, 'lastLine'>

const selectRaw = statement((db) =>
  db
    .select({ raw: inboundMessages.raw })
    .from(inboundMessages)
    .where(eq(inboundMessages.id, parameter('id'))),
)

const selectStillPending = statement((db) =>
  db
    .select({ id: inboundMessages.id })
    .from(inboundMessages)
    .where(
      sql`${inboundMessages.id} in ${listOf(parameter('ids'))} and ${unindexed(inboundMessages.state)} = 'pending'`,
    ),
)

const end = {
  state: 'processed',
  kind: parameter('kind'),
  sender: parameter('sender'),
  subject: parameter('subject'),
  summary: parameter('summary'),
  remark: parameter('remark'),
  error: null,
  begunAt: null,
  processedAt: parameter('at'),
} as const

const endWithRaw = statement((db) =>
  db
    .update(inboundMessages)
    .set(end)
    .where(eq(inboundMessages.id, parameter('id'))),
)

const endWithoutRaw = statement((db) =>
  db
    .update(inboundMessages)
    .set({ ...end, raw: null })
    .where(eq(inboundMessages.id, parameter('id'))),
)

const failRow = statement((db) =>
  db
    .update(inboundMessages)
    .set({
      state: 'failed',
      error: parameter('error'),
      begunAt: null,
      processedAt: parameter('at'),
    })
    .where(
      sql`${inboundMessages.id} = ${parameter('id')} and ${inboundMessages.state} = 'pending'`,
    ),
)

/** Returns null when the row or its octets are deleted. */
export async function findRaw(
  { store }: Pick<Base, 'store'>,
  pending: Pick<PendingMessage, 'id' | 'rawChunks' | 'sizeBytes'>,
): Promise<Buffer | null> {
  const row = await store.read.find(selectRaw, { id: pending.id })
  return row === undefined ? null : readRaw(store, { ...pending, raw: row.raw })
}

/**
 * Returns the ids that are still pending, without messages that have ended since they were listed.
 */
export async function listPending(tx: Tx, ids: readonly string[]): Promise<Set<string>> {
  const rows = await tx.list(selectStillPending, { ids: JSON.stringify(ids) })
  return new Set(rows.map(({ id }) => id))
}

export type EndedMessage = {
  id: string
  kind: InboundKind
  sender: string | null
  subject: string | null
  summary: InboundMessage['summary']
  /** Why mail to a mailbox had less effect than usual. */
  remark: string | null
  keepsRaw: boolean
  /**
   * The octets to keep in place of the received ones, of the same size; null to keep the received
   * ones.
   */
  kept: Uint8Array | null
  rawChunks: number
  at: number
}

export async function endPending(tx: Tx, messages: readonly EndedMessage[]): Promise<void> {
  const asSent = messages.filter(({ kept }) => kept === null)
  const write = async (ended: readonly EndedMessage[]) => {
    await tx.executeEach(
      endWithRaw,
      ended.filter(({ keepsRaw }) => keepsRaw),
    )
    await tx.executeEach(
      endWithoutRaw,
      ended.filter(({ keepsRaw }) => !keepsRaw),
    )
  }
  await write(asSent)
  for (const message of messages) {
    const { id, kept, rawChunks } = message
    if (kept === null) continue
    await overwriting(tx, async () => {
      await replaceRaw(tx, { id, rawChunks }, kept)
      await write([message])
    })
  }
}

/** Sets the message aside for the operator; it is not parsed again. */
export async function failPending(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { id, error }: { id: string; error: string },
): Promise<void> {
  await store.write((tx) => tx.execute(failRow, { id, error, at: now() }))
}
