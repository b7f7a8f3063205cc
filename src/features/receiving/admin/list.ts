/**
 * Inbound mail that is the operator's to look at: to the server itself, not to be read, or of less
 * effect than other mail.
 */

import type { RowOf } from '../../../store/database.ts'
import { contains } from '../../../store/dialect.ts'
import { desc, sql } from '../../../store/drizzle.ts'
import { inboundMessages } from '../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../base.ts'

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

/** The condition is that of its index, word for word. */
export const selectListed = statement((db) =>
  db
    .select(columns)
    .from(inboundMessages)
    .where(
      sql`state = 'failed' or remark is not null or ${contains(sql`recipients`, sql`'"for":"server"'`)}`,
    )
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

/** Whatever it was for; two indexes answer. */
export const countAll = statement<{ kept: number; waiting: number }>(
  () => sql`select (select count(*) from inbound_messages) as kept,
    (select count(*) from inbound_messages where state = 'pending' and is_suspect = 0)
      + (select count(*) from inbound_messages where state = 'pending' and is_suspect = 1)
    as waiting`,
)

export type ListedInboundMessage = RowOf<typeof selectListed>

/** `isAll`: reports and mail to mailboxes, too. */
export type InboundFilter = { isAll?: boolean; limit?: number }

/** Newest first. */
export function listInboundMessages(
  { store }: Pick<Base, 'store'>,
  { isAll = false, limit = 100 }: InboundFilter = {},
): Promise<readonly ListedInboundMessage[]> {
  return store.scan.list(isAll ? selectAll : selectListed, { limit })
}

/** How much of what came in waits to be read, and how much has ended and is still known. */
export async function countInboundMessages({
  store,
}: Pick<Base, 'store'>): Promise<{ waiting: number; ended: number }> {
  const { kept, waiting } = (await store.scan.find(countAll, {})) ?? { kept: 0, waiting: 0 }
  return { waiting, ended: kept - waiting }
}
