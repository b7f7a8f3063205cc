/**
 * The stored messages of all projects. For operators: the list, one message with its octets,
 * deletion, and another try at parsing failed messages. Also the deletion of expired messages.
 */
import { DAY_MS } from '../../../base/clock.ts'
import { AppError, notFound } from '../../../base/errors.ts'
import type { RowOf } from '../../../store/database.ts'
import { listOf, rowNumber } from '../../../store/dialect.ts'
import { desc, eq, sql } from '../../../store/drizzle.ts'
import { type InboundMessage, inboundMessages } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { sweepPages } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { discardChunks } from '../../ground/chunks.ts'
import { RETENTION_PACE, toBatches } from '../../mail/messages/old-rows.ts'
import { readRaw, shownOctets } from './raw.ts'

const columns = {
  id: inboundMessages.id,
  receivedAt: inboundMessages.receivedAt,
  state: inboundMessages.state,
  reversePath: inboundMessages.reversePath,
  recipients: inboundMessages.recipients,
  sizeBytes: inboundMessages.sizeBytes,
  kind: inboundMessages.kind,
  sender: inboundMessages.sender,
  subject: inboundMessages.subject,
  error: inboundMessages.error,
  remark: inboundMessages.remark,
}

/** The condition repeats that of the partial index word for word, so that SQLite uses the index. */
export const selectListed = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(sql`state = 'failed' or remark is not null or is_for_server = 1`)
    .orderBy(desc(inboundMessages.id))
    .limit(parameter('limit')),
)

const selectAll = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .orderBy(desc(inboundMessages.id))
    .limit(parameter('limit')),
)

/** Counts all messages, and the pending ones. Each of the two counts reads an index. */
export const countAll = statement<{ kept: number; waiting: number }>(
  () => sql`select (select count(*) from inbound_messages) as kept,
    (select count(*) from inbound_messages where state = 'pending' and is_suspect = 0)
      + (select count(*) from inbound_messages where state = 'pending' and is_suspect = 1)
    as waiting`,
)

type ListedInboundMessage = RowOf<typeof selectListed>

type InboundSelection = { isAll?: boolean; limit?: number }

type ExpiryDeps = Pick<Base, 'store' | 'config' | 'now'>
type Aged = { number: number; at: number; bytes: number; isShort: number }

const REPORT_DAYS = 30
const PAGE = 500

/**
 * `isShort`: the row has the shorter retention. `bytes`: the size of the octets that are deleted
 * with the row.
 */
export const listAgedMessages = statement<Aged>(
  () => sql`select ${rowNumber()} as number, received_at as at,
      case when raw is null then 0 else size_bytes end as bytes,
      state = 'processed' and (raw is null or kind = 'other') as isShort
    from inbound_messages where state not in ('pending', 'held') and received_at < ${parameter('before')}
      and (received_at, ${rowNumber()}) > (${parameter('at')}, ${parameter('number')})
    order by received_at, ${rowNumber()} limit ${PAGE}`,
)

const deleteRows = statement(
  () => sql`delete from inbound_messages
    where ${rowNumber()} in ${listOf(parameter('numbers'))}`,
)

/**
 * Lists the messages that an operator should see, newest first: mail to the server itself, messages
 * that could not be parsed, and messages that had less effect than usual and have a remark about
 * it. `isAll`: also lists reports and mail to mailboxes.
 */
export function listInboundMessages(
  { store }: Pick<Base, 'store'>,
  { isAll = false, limit = 100 }: InboundSelection = {},
): Promise<readonly ListedInboundMessage[]> {
  return store.scan.list(isAll ? selectAll : selectListed, { limit })
}

/** Counts the pending messages, and the ended ones whose rows still exist. */
export async function countInboundMessages({
  store,
}: Pick<Base, 'store'>): Promise<{ waiting: number; ended: number }> {
  const { kept, waiting } = (await store.scan.find(countAll, {})) ?? { kept: 0, waiting: 0 }
  return { waiting, ended: kept - waiting }
}

/**
 * `isWithheld`: the octets exist, but may quote links that cannot be taken out, so they are not
 * shown.
 */
export type ShownMessage = InboundMessage & { isWithheld: boolean }

/**
 * Reads one message. `raw`: null if the octets are deleted or withheld.
 * @throws AppError RESOURCE_NOT_FOUND
 */
export async function loadInboundMessage(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<ShownMessage> {
  const row = await store.read
    .select()
    .from(inboundMessages)
    .where(eq(inboundMessages.id, id))
    .get()
  if (row === undefined) throw inboundMessageNotFound(id)
  const raw = await readRaw(store, row)
  const shown = raw === null ? null : shownOctets(raw)
  return { ...row, raw: shown ?? null, isWithheld: shown === undefined }
}

function inboundMessageNotFound(id: string): AppError {
  return notFound('inbound message', id, `There is no inbound message ${id}.`)
}

/**
 * Deletes messages, which no longer count towards the limit of stored mail. Emails made from them
 * stay.
 *
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (still pending); after an error nothing is deleted
 */
export async function deleteInboundMessages(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await deleteOne(tx, id)
  })
  for (const id of ids) await discardChunks(store, id)
}

async function deleteOne(tx: Tx, id: string): Promise<void> {
  const hasId = eq(inboundMessages.id, id)
  const { state } = inboundMessages
  const row = await tx.select({ state }).from(inboundMessages).where(hasId).get()
  if (row === undefined) {
    throw inboundMessageNotFound(id)
  }
  if (row.state === 'pending') {
    throw new AppError('CONFLICT', `Inbound message ${id} is still waiting to be read.`)
  }
  await tx.delete(inboundMessages).where(hasId)
}

type Retried = { state: string; hasRaw: number }
type RetryDeps = Pick<Base, 'store' | 'inboundNotifier'>

const findState = statement<Retried>(
  () => sql`select state, raw is not null as "hasRaw" from inbound_messages
    where id = ${parameter('id')}`,
)

const renewed = sql`state = 'pending', is_suspect = 1, attempts = 0, interruptions = 0,
  due_at = 0, error = null, processed_at = null`

const retryOne = statement(
  () => sql`update inbound_messages set ${renewed} where id = ${parameter('id')}`,
)

const retryAll = statement(
  () => sql`update inbound_messages set ${renewed} where state = 'failed' and raw is not null`,
)

/**
 * Parses messages again: each alone, with its counts of attempts and interruptions at 0. A message
 * that waits after an interruption is due at once.
 *
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (already processed, or its octets are deleted);
 *   after an error no message is retried
 */
export async function retryInboundMessages(
  { store, inboundNotifier }: RetryDeps,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) await retry(tx, id)
    tx.afterCommit(() => inboundNotifier.notify('changed'))
  })
}

/** Retries every failed message that has its octets. Returns their number. */
export async function retryFailedInboundMessages({
  store,
  inboundNotifier,
}: RetryDeps): Promise<number> {
  return store.write(async (tx) => {
    tx.afterCommit(() => inboundNotifier.notify('changed'))
    return tx.execute(retryAll, {})
  })
}

async function retry(tx: Tx, id: string): Promise<void> {
  const message = await tx.find(findState, { id })
  if (message === undefined) {
    throw inboundMessageNotFound(id)
  }
  if (message.state === 'processed') {
    throw new AppError('CONFLICT', `Inbound message ${id} is processed: there is nothing to retry.`)
  }
  if (message.hasRaw === 0) {
    throw new AppError('CONFLICT', `The text of inbound message ${id} has been deleted.`)
  }
  await tx.execute(retryOne, { id })
}

/**
 * Deletes expired messages, and returns how many. Rows with octets (mail, and messages that could
 * not be parsed) are kept for `retention.body_days`. Rows of reports and unsubscriptions are kept
 * as long, but for 30 days at most. Pending and held rows stay. The emails that were made from
 * messages are rows of their own and stay too.
 */
export async function deleteExpiredInboundMessages(deps: ExpiryDeps): Promise<number> {
  return sweepPages<Aged, number>(
    deps,
    { pace: RETENTION_PACE, heavyFor: 'retention' },
    {
      from: 0,
      pages: listExpired(deps),
      change: async (tx, rows, total) => {
        const numbers = JSON.stringify(rows.map(({ number }) => number))
        return total + (await tx.execute(deleteRows, { numbers }))
      },
    },
  )
}

/** Yields expired messages in groups that one transaction may delete. */
async function* listExpired({ store, config, now }: ExpiryDeps): AsyncGenerator<Aged[]> {
  const mailBefore = now() - config.retention.bodyDays * DAY_MS
  const reportsBefore = Math.max(mailBefore, now() - REPORT_DAYS * DAY_MS)
  let position = { at: Number.MIN_SAFE_INTEGER, number: 0 }
  for (;;) {
    const page = await store.scan.list(listAgedMessages, { before: reportsBefore, ...position })
    yield* toBatches(page.filter(({ at, isShort }) => isShort === 1 || at < mailBefore))
    const last = page.at(-1)
    if (last === undefined || page.length < PAGE) return
    position = last
  }
}
