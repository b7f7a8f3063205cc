/**
 * Accepts a message from outside: inserts the row that waits to be parsed and resolves once the row
 * is on disk. The stored octets are the message as it was sent, preceded by this server's Received
 * field.
 */
import { formatReceived } from '../../../../formats/incoming/received-field.ts'
import { newId } from '../../../../store/ids.ts'
import { inboundMessages } from '../../../../store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../store/schema/json-values.ts'
import type { PendingKind } from '../../../../store/schema/words.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { discardChunks, requireChunks } from '../../../ground/chunks.ts'
import type { InboundNotice } from '../../../ground/inbound-notice.ts'
import { requireSpace } from '../limits.ts'
import { joinParts, type StoredRaw, sizeOf, writeRaw } from '../raw.ts'

export type { InboundRecipient } from '../../../../store/schema/json-values.ts'

type NewInboundMessage = {
  /** The reverse path; empty for the null reverse path. */
  reversePath: string
  recipients: readonly InboundRecipient[]
  clientAddress: string
  /** The name that the client gave in EHLO or HELO. */
  clientName: string
  /** The protocol of the Received field: `SMTP`, `ESMTP`, `ESMTPS` (RFC 3848). */
  protocol: string
  /** The version and the cipher of TLS; null for a session in clear. */
  tls: string | null
  /** The message as sent, after dot-unstuffing, in consecutive parts. */
  content: readonly Buffer[]
}

type Deps = Pick<Base, 'store' | 'config' | 'inboundNotifier' | 'now'>

const insertMessage = statement((db) =>
  db.insert(inboundMessages).values({
    id: parameter('id'),
    receivedAt: parameter('receivedAt'),
    state: 'pending',
    reversePath: parameter('reversePath'),
    recipients: parameter('recipients'),
    pendingKind: parameter('pendingKind'),
    isForServer: parameter('isForServer'),
    line: parameter('line'),
    clientAddress: parameter('clientAddress'),
    clientName: parameter('clientName'),
    tls: parameter('tls'),
    sizeBytes: parameter('sizeBytes'),
    raw: parameter('raw'),
    rawChunks: parameter('rawChunks'),
  }),
)

/** Whether mail can be stored: the database accepts writes and the disk has space. */
export function canAcceptMail({ store, disk }: Pick<Base, 'store' | 'disk'>): boolean {
  return store.isWritable() && !disk.isLow()
}

/**
 * Stores a message. Returns the id of its row once the row is on disk.
 * @throws MailboxFull, AppError DATABASE_ERROR; after an error nothing is stored
 */
export async function acceptInboundMessage(
  deps: Deps,
  message: NewInboundMessage,
): Promise<string> {
  const { parts, ...row } = toRow(deps, message)
  await requireSpace(deps, deps.store.read, row)
  const stored = await writeRaw(deps, { id: row.id, parts })
  try {
    await deps.store.write((tx) => insertRow(deps, tx, { ...row, ...stored }))
  } catch (error) {
    if (stored.rawChunks > 0) await discardChunks(deps.store, row.id)
    throw error
  }
  return row.id
}

/**
 * Stores a message like `acceptInboundMessage`, in the caller's transaction. The message must be
 * small, because it is not cut into chunks.
 * @throws MailboxFull
 */
export async function insertInboundMessage(
  deps: Omit<Deps, 'store'>,
  tx: Tx,
  message: NewInboundMessage,
): Promise<string> {
  const { parts, ...row } = toRow(deps, message)
  await insertRow(deps, tx, { ...row, raw: joinParts(parts), rawChunks: 0 })
  return row.id
}

function toRow(deps: Pick<Base, 'config' | 'now'>, message: NewInboundMessage) {
  const { content, protocol, ...row } = message
  const id = newId()
  const at = deps.now()
  const [only, ...others] = message.recipients
  const received = formatReceived({
    ...message,
    id,
    at,
    hostname: deps.config.delivery.hostname,
    recipient: only !== undefined && others.length === 0 ? only.address : null,
  })
  const parts = [Buffer.from(received), ...content]
  const sizeBytes = sizeOf(parts)
  const isFor = (purpose: InboundRecipient['for']) =>
    message.recipients.some((recipient) => recipient.for === purpose)
  const mailbox = message.recipients.find((recipient) => recipient.for === 'mailbox')
  const pendingKind: PendingKind = mailbox === undefined ? 'reports' : 'mail'
  const line = mailbox?.projectId ?? ''
  const isForServer = isFor('server')
  return { ...row, id, receivedAt: at, sizeBytes, pendingKind, isForServer, line, parts }
}

type NewRow = Omit<ReturnType<typeof toRow>, 'parts'> & StoredRaw

async function insertRow(
  { config, inboundNotifier }: Pick<Base, 'config' | 'inboundNotifier'>,
  tx: Tx,
  row: NewRow,
): Promise<void> {
  await requireSpace({ config }, tx, row)
  if (row.rawChunks > 0) await requireChunks(tx, { ownerId: row.id, count: row.rawChunks })
  await tx.execute(insertMessage, row)
  tx.afterCommit(() => inboundNotifier.notify(toNotice(row)))
}

/** Makes the notice to the reader: the row as the reader would read it from the database. */
function toNotice({ raw, rawChunks, ...row }: NewRow): InboundNotice {
  const untried = { attempts: 0, isSuspect: false, interruptions: 0, dueAt: 0 }
  const { tls: _, isForServer: __, recipients, ...others } = row
  const stored = { ...others, ...untried, recipients: [...recipients], rawChunks }
  return { row: stored, raw: rawChunks > 0 ? null : raw }
}
