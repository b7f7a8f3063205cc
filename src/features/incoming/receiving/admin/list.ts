/**
 * Lists received messages that an operator should see: mail to the server itself, messages that
 * could not be parsed, and messages with a remark, which had less effect than usual.
 */
import type { RowOf } from '../../../../store/database.ts'
import { desc, sql } from '../../../../store/drizzle.ts'
import { inboundMessages } from '../../../../store/schema/inbound.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

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

/** Repeats the condition of the partial index word for word, so that SQLite uses the index. */
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

/** Counts all messages, and the pending ones: each of their two counts reads an index. */
export const countAll = statement<{ kept: number; waiting: number }>(
  () => sql`select (select count(*) from inbound_messages) as kept,
    (select count(*) from inbound_messages where state = 'pending' and is_suspect = 0)
      + (select count(*) from inbound_messages where state = 'pending' and is_suspect = 1)
    as waiting`,
)

type ListedInboundMessage = RowOf<typeof selectListed>

/** `isAll`: includes reports and mail to mailboxes. */
type InboundSelection = { isAll?: boolean; limit?: number }

/** Newest first. */
export function listInboundMessages(
  { store }: Pick<Base, 'store'>,
  { isAll = false, limit = 100 }: InboundSelection = {},
): Promise<readonly ListedInboundMessage[]> {
  return store.scan.list(isAll ? selectAll : selectListed, { limit })
}

/** Counts pending messages, and ended ones whose rows still exist. */
export async function countInboundMessages({
  store,
}: Pick<Base, 'store'>): Promise<{ waiting: number; ended: number }> {
  const { kept, waiting } = (await store.scan.find(countAll, {})) ?? { kept: 0, waiting: 0 }
  return { waiting, ended: kept - waiting }
}
