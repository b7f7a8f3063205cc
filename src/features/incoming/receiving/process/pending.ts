/**
 * Reads the octets of pending messages and writes their final state. `accept/accept-message.ts` inserts
 * the rows, `lines.ts` lists them; `suspects.ts` handles those that are parsed alone.
 */
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { overwriting } from '../../../../store/overwrite.sqlite.ts'
import { type InboundMessage, inboundMessages } from '../../../../store/schema/inbound.ts'
import type { InboundKind } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { readRaw, replaceRaw } from '../raw.ts'
import type { PendingMessage } from './lines.ts'

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

/** Reads the octets of a message; null when the row or its octets are deleted. */
export async function findRaw(
  { store }: Pick<Base, 'store'>,
  pending: Pick<PendingMessage, 'id' | 'rawChunks' | 'sizeBytes'>,
): Promise<Buffer | null> {
  const row = await store.read.find(selectRaw, { id: pending.id })
  return row === undefined ? null : readRaw(store, { ...pending, raw: row.raw })
}

/**
 * Returns those of the ids that are still pending: messages may have ended since they were listed.
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
   * The octets that replace the received ones and have the same size; null if the received ones
   * stay.
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
