/**
 * Limits the stored bytes of received mail, so that senders cannot fill the disk. Triggers maintain
 * the sums in `inbound_usage`, so a check reads one row.
 *
 * | mail                     | limit                                                                  |
 * |--------------------------|------------------------------------------------------------------------|
 * | to a project's mailboxes | `inbound.max_bytes_per_project`; beyond it, the mailbox is full        |
 * | to the server itself     | 1 MB each, 100 MB in all, 20 an hour from a network                    |
 * |                          | (`server-mail-limit.ts`)                                               |
 * | reports, unsubscriptions | none while they wait; their octets are deleted once they are parsed,   |
 * |                          | except unrecognised reports: up to 1 MB each, 100 MB in all            |
 */
import { eq } from '../../../../store/drizzle.ts'
import { inboundUsage } from '../../../../store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../store/schema/json-values.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Reader } from '../../../../store/store.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

/** The size of one message to the server itself. */
export const MAX_SERVER_MESSAGE_BYTES = 1024 * 1024
/** The total for messages to the server itself; unrecognised reports have as much. */
const MAX_SHARED_BYTES = 100 * 1024 * 1024

const selectUsage = statement((db) =>
  db
    .select({ bytes: inboundUsage.bytes })
    .from(inboundUsage)
    .where(eq(inboundUsage.owner, parameter('owner'))),
)

/** The message was not stored: the mailbox has no space for it. */
export class MailboxFull extends Error {
  override readonly name = 'MailboxFull'
}

/** Whether a message of `sizeBytes` may be stored for this recipient. */
export async function hasSpace(
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
      return (await usageOf(reader, 'server')) + sizeBytes <= MAX_SHARED_BYTES
    default:
      return true
  }
}

/** @throws MailboxFull */
export async function requireSpace(
  deps: Pick<Base, 'config'>,
  reader: Pick<Reader, 'find'>,
  { recipients, sizeBytes }: { recipients: readonly InboundRecipient[]; sizeBytes: number },
): Promise<void> {
  for (const recipient of recipients) {
    const fits = await hasSpace(deps, reader, { recipient, sizeBytes })
    if (!fits) throw new MailboxFull(`the mailbox of ${recipient.address} is full`)
  }
}

/** Whether the octets of an unrecognised report may stay. The usage already includes them. */
export async function mayStoreReport(
  tx: Tx,
  { sizeBytes }: { sizeBytes: number },
): Promise<boolean> {
  if (sizeBytes > MAX_SERVER_MESSAGE_BYTES) return false
  return (await usageOf(tx, 'reports')) <= MAX_SHARED_BYTES
}

async function usageOf(reader: Pick<Reader, 'find'>, owner: string): Promise<number> {
  return (await reader.find(selectUsage, { owner }))?.bytes ?? 0
}
