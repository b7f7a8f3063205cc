/**
 * Lists pending rows and writes their final state. `accept/accept-message.ts` inserts them;
 * `suspects.ts` handles those that are parsed alone.
 */
import type { RowOf } from '../../../store/database.ts'
import { orderedJoin } from '../../../store/dialect.ts'
import { eq, type SQL, sql } from '../../../store/drizzle.ts'
import { overwriting } from '../../../store/overwrite.sqlite.ts'
import { type InboundMessage, inboundMessages } from '../../../store/schema/inbound.ts'
import type { InboundKind, PendingKind } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { alternate } from '../../../turns/alternate.ts'
import type { Base } from '../../base.ts'
import { readRaw, replaceRaw } from '../raw.ts'

/** Both kinds are parsed side by side: mail may have to wait for DNS, reports never do. */
export const PENDING_KINDS: readonly PendingKind[] = ['reports', 'mail']

/** All but the octets. */
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
const isPendingOfKind = sql`state = 'pending' and is_suspect = 0 and pending_kind = ${parameter('kind')}`

/** Lines that are looked at. */
const MAX_LINES = 300
/** Greater than every id. */
const LAST_ID = '~'

/**
 * The oldest messages of each line, with their place in it. The lines are found one after the other in
 * the index, so that a long line costs no more than a short one. `share`: how many of a line; it may
 * count `lines`.
 */
export function firstOfLines(share: SQL): SQL {
  const ofLine = sql`${isPendingOfKind} and line = lines.line`
  return sql`(with recursive lines (line) as (
      select (select line from inbound_messages where ${isPendingOfKind} order by line limit 1)
      union all
      select (select line from inbound_messages where ${isPendingOfKind} and line > lines.line
        order by line limit 1) from lines where lines.line is not null limit ${sql.raw(String(MAX_LINES))})
    select waiting.id, row_number() over (partition by waiting.line order by waiting.id) as place
      from lines ${orderedJoin()} (
        select line, id from inbound_messages where ${isPendingOfKind}) as waiting
      where waiting.line = lines.line and waiting.id <= coalesce((
        select id from inbound_messages where ${ofLine} order by id limit 1 offset ${share}),
        ${sql.raw(`'${LAST_ID}'`)}))`
}

/** The first messages of all lines of a kind, then their second ones, and so on. */
export const selectPending = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(
      sql`id in (select id from ${firstOfLines(sql`(select case when fair < ${parameter('ofLine')} then fair
          else ${parameter('ofLine')} - 1 end from (
            select cast(2 * ${parameter('limit')} / count(*) as integer) as fair from lines))`)}
        order by place, id limit ${parameter('limit')})`,
    )
    .orderBy(inboundMessages.id),
)

export type PendingMessage = RowOf<typeof selectPending>

const selectRaw = statement((db) =>
  db
    .select({ raw: inboundMessages.raw })
    .from(inboundMessages)
    .where(eq(inboundMessages.id, parameter('id'))),
)

const selectState = statement((db) =>
  db
    .select({ state: inboundMessages.state })
    .from(inboundMessages)
    .where(eq(inboundMessages.id, parameter('id'))),
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

/**
 * Returns at most `limit` messages, and `ofLine` of a line, without those that are parsed alone. Lines
 * alternate, and each is in the order of arrival.
 */
export async function listPending(
  { store }: Pick<Base, 'store'>,
  window: { kind: PendingKind; limit: number; ofLine: number },
): Promise<readonly PendingMessage[]> {
  const rows = await store.read.list(selectPending, window)
  return alternate(rows, ({ line }) => line)
}

/** Returns null when the row or its octets are deleted. */
export async function findRaw(
  { store }: Pick<Base, 'store'>,
  pending: Pick<PendingMessage, 'id' | 'rawChunks' | 'sizeBytes'>,
): Promise<Buffer | null> {
  const row = await store.read.find(selectRaw, { id: pending.id })
  return row === undefined ? null : readRaw(store, { ...pending, raw: row.raw })
}

/** False for a row that has ended since it was listed. */
export async function isPending(tx: Tx, id: string): Promise<boolean> {
  return (await tx.find(selectState, { id }))?.state === 'pending'
}

type Ended = {
  id: string
  kind: InboundKind
  sender: string | null
  subject: string | null
  summary: InboundMessage['summary']
  /** Why mail to a mailbox had less effect than usual. */
  remark: string | null
  keepsRaw: boolean
  /** The octets to keep in place of those that came in, of the same size; null to keep these. */
  kept: Uint8Array | null
  rawChunks: number
  at: number
}

export async function endPending(
  tx: Tx,
  { keepsRaw, kept, rawChunks, ...ended }: Ended,
): Promise<void> {
  const end = async () => void (await tx.execute(keepsRaw ? endWithRaw : endWithoutRaw, ended))
  if (kept === null) return end()
  await overwriting(tx, async () => {
    await replaceRaw(tx, { id: ended.id, rawChunks }, kept)
    await end()
  })
}

/** Sets the message aside for the operator; it is not parsed again. */
export async function failPending(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { id, error }: { id: string; error: string },
): Promise<void> {
  await store.write((tx) => tx.execute(failRow, { id, error, at: now() }))
}
