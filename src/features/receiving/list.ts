/**
 * Inbound mail that is the operator's to look at: to the server itself, not to be read, or of less
 * effect than other mail.
 */
import { desc, sql } from '../../store/drizzle.ts'
import { inboundMessages } from '../../store/schema.ts'
import { parameter, type RowOf, statement } from '../../store/store.ts'
import type { Core } from '../core.ts'

/** The condition is that of its index, word for word. */
export const selectListed = statement((db) =>
  db
    .select({
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
    })
    .from(inboundMessages)
    .where(sql`state = 'failed' or remark is not null or instr(recipients, '"for":"server"') > 0`)
    .orderBy(desc(inboundMessages.id))
    .limit(parameter('limit')),
)

export type ListedInbound = RowOf<typeof selectListed>

/** Newest first. */
export function listInbound(
  { store }: Pick<Core, 'store'>,
  limit = 100,
): Promise<readonly ListedInbound[]> {
  return store.scan.list(selectListed, { limit })
}
