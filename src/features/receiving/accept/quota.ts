/**
 * How much of what comes in is kept, so that strangers cannot fill the disk. Triggers count the kept
 * bytes (`inbound_usage`), so asking costs one row.
 *
 * | mail                     | bound                                                                |
 * |--------------------------|----------------------------------------------------------------------|
 * | to a project's mailboxes | `inbound.max_bytes_per_project`; beyond it the mailbox is full       |
 * | to the server itself     | 1 MB each, 100 MB in all, 20 an hour of one network (`visitors.ts`)  |
 * | returned, unsubscribing  | none: it is read and forgotten; what could not be understood is kept |
 * |                          | up to 1 MB each, 100 MB in all                                       |
 */
import { eq } from '../../../store/drizzle.ts'
import { type InboundRecipient, inboundUsage } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Reader } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'

/** Of one message to the server itself. */
export const SERVER_MESSAGE_BYTES = 1024 * 1024
const SHARED_BYTES = 100 * 1024 * 1024

const selectUsage = statement((db) =>
  db
    .select({ bytes: inboundUsage.bytes })
    .from(inboundUsage)
    .where(eq(inboundUsage.owner, parameter('owner'))),
)

/** A message that was not kept: there is no room for it. */
export class MailboxFull extends Error {
  override readonly name = 'MailboxFull'
}

/** Whether a message of that size may be kept for this recipient. */
export async function hasRoom(
  { config }: Pick<Base, 'config'>,
  reader: Pick<Reader, 'find'>,
  { recipient, sizeBytes }: { recipient: InboundRecipient; sizeBytes: number },
): Promise<boolean> {
  const { maxBytesPerProject } = config.inbound
  switch (recipient.for) {
    case 'mailbox':
      if (maxBytesPerProject === 0) return true
      return (await usageOf(reader, recipient.projectId)) + sizeBytes <= maxBytesPerProject
    case 'server':
      return (await usageOf(reader, 'server')) + sizeBytes <= SHARED_BYTES
    default:
      return true
  }
}

/** @throws MailboxFull */
export async function requireRoom(
  deps: Pick<Base, 'config'>,
  reader: Pick<Reader, 'find'>,
  { recipients, sizeBytes }: { recipients: readonly InboundRecipient[]; sizeBytes: number },
): Promise<void> {
  for (const recipient of recipients) {
    const isKept = await hasRoom(deps, reader, { recipient, sizeBytes })
    if (!isKept) throw new MailboxFull(`the mailbox of ${recipient.address} is full`)
  }
}

/** Of what could not be understood; its own bytes are among those that are counted. */
export async function mayStoreReport(
  tx: Tx,
  { sizeBytes }: { sizeBytes: number },
): Promise<boolean> {
  if (sizeBytes > SERVER_MESSAGE_BYTES) return false
  return (await usageOf(tx, 'reports')) <= SHARED_BYTES
}

async function usageOf(reader: Pick<Reader, 'find'>, owner: string): Promise<number> {
  return (await reader.find(selectUsage, { owner }))?.bytes ?? 0
}
