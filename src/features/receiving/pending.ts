/** Rows of mail that waits to be read, and how each ends. `keep.ts` writes them. */
import { eq, sql } from '../../store/drizzle.ts'
import {
  type InboundKind,
  type InboundMessage,
  type InboundRecipient,
  inboundMessages,
} from '../../store/schema.ts'
import { parameter, type RowOf, statement, type Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'

/** Without the message itself. */
const columns = {
  id: inboundMessages.id,
  receivedAt: inboundMessages.receivedAt,
  reversePath: inboundMessages.reversePath,
  recipients: inboundMessages.recipients,
  clientAddress: inboundMessages.clientAddress,
  clientName: inboundMessages.clientName,
  sizeBytes: inboundMessages.sizeBytes,
  attempts: inboundMessages.attempts,
}

/** Of one lane: `isMail` is 1 for mail to mailboxes. The expression is that of its index. */
export const selectPending = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(
      sql`state = 'pending' and attempts = 0
        and (instr(recipients, '"for":"mailbox"') > 0) = ${parameter('isMail')}`,
    )
    .orderBy(inboundMessages.id)
    .limit(parameter('limit')),
)

/** To be read alone. */
export const selectSuspect = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(sql`${inboundMessages.state} = 'pending' and ${inboundMessages.attempts} > 0`)
    .orderBy(inboundMessages.id)
    .limit(1),
)

export type Pending = RowOf<typeof selectPending>
export type { InboundRecipient } from '../../store/schema.ts'

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

const raiseAttempts = statement((db) =>
  db
    .update(inboundMessages)
    .set({ attempts: sql`${inboundMessages.attempts} + 1` })
    .where(
      sql`${inboundMessages.id} = ${parameter('id')} and ${inboundMessages.state} = 'pending'`,
    ),
)

export const suspectFirst = statement(
  () => sql`update inbound_messages set attempts = 1 where id in (
    select id from inbound_messages where state = 'pending' and attempts = 0
      and (instr(recipients, '"for":"mailbox"') > 0) = ${parameter('isMail')}
    order by id limit ${parameter('limit')})`,
)

const endRow = statement((db) =>
  db
    .update(inboundMessages)
    .set({
      state: 'processed',
      kind: parameter('kind'),
      sender: parameter('sender'),
      subject: parameter('subject'),
      summary: parameter('summary'),
      raw: sql`case when ${parameter('keepsRaw')} then ${inboundMessages.raw} end`,
      error: null,
      processedAt: parameter('at'),
    })
    .where(eq(inboundMessages.id, parameter('id'))),
)

const failRow = statement((db) =>
  db
    .update(inboundMessages)
    .set({ state: 'failed', error: parameter('error'), processedAt: parameter('at') })
    .where(
      sql`${inboundMessages.id} = ${parameter('id')} and ${inboundMessages.state} = 'pending'`,
    ),
)

/** What is read side by side; mail may have to wait for the DNS of whoever sent it. */
export type Lane = 'reports' | 'mail'

/** Of what was not tried yet, the oldest first. */
export function listPending(
  { store }: Pick<Core, 'store'>,
  { lane, limit }: { lane: Lane; limit: number },
): Promise<readonly Pending[]> {
  return store.read.list(selectPending, { isMail: lane === 'mail' ? 1 : 0, limit })
}

/** The oldest that was tried before. */
export function listSuspect({ store }: Pick<Core, 'store'>): Promise<readonly Pending[]> {
  return store.read.list(selectSuspect, {})
}

/** Null when the row, or its message, is gone. */
export async function findRaw({ store }: Pick<Core, 'store'>, id: string): Promise<Buffer | null> {
  return (await store.read.find(selectRaw, { id }))?.raw ?? null
}

/** Durable before the message is read (again). */
export async function countAttempt({ store }: Pick<Core, 'store'>, id: string): Promise<void> {
  await store.write((tx) => tx.execute(raiseAttempts, { id }))
}

/** What a process that died may have had in hand of each lane: any of it may be the cause. */
export async function suspectOldest({ store }: Pick<Core, 'store'>, limit: number): Promise<void> {
  await store.write(async (tx) => {
    for (const isMail of [0, 1]) await tx.execute(suspectFirst, { isMail, limit })
  })
}

/** False for what was done with since it was listed. */
export async function isPending(tx: Tx, id: string): Promise<boolean> {
  return (await tx.find(selectState, { id }))?.state === 'pending'
}

export type Ended = {
  id: string
  kind: InboundKind
  sender: string | null
  subject: string | null
  summary: InboundMessage['summary']
  keepsRaw: boolean
  at: number
}

export async function endPending(tx: Tx, ended: Ended): Promise<void> {
  await tx.execute(endRow, { ...ended, keepsRaw: ended.keepsRaw ? 1 : 0 })
}

/** For the operator to look at: it is not read again. */
export async function failPending(
  { store, now }: Pick<Core, 'store' | 'now'>,
  { id, error }: { id: string; error: string },
): Promise<void> {
  await store.write((tx) => tx.execute(failRow, { id, error, at: now() }))
}

export function isMail(recipients: readonly InboundRecipient[]): boolean {
  return recipients.some((recipient) => recipient.for === 'mailbox')
}

export function laneOf({ recipients }: Pending): Lane {
  return isMail(recipients) ? 'mail' : 'reports'
}
