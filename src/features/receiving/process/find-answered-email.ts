/**
 * Which of a project's emails a message answers, by In-Reply-To and References. Our own Message-IDs
 * begin with the email's id; those that a client chose have an index; a smarthost may have put its
 * own id in their place.
 */
import { unindexed } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

type Found = { id: string }

const UUID_LENGTH = 36

export const findByOwnId = statement<Found>(
  () => sql`select id from emails where id = ${parameter('id')}
    and message_id = ${parameter('messageId')} and project_id = ${parameter('projectId')}
    and source_type <> 'INBOUND'`,
)

export const findByCustomId = statement<Found>(
  () => sql`select id from emails where substr(message_id, 1, 36) <> id
    and message_id = ${parameter('messageId')} and ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and source_type <> 'INBOUND' limit 1`,
)

export const findByProviderId = statement<Found>(
  () => sql`select id from emails where provider_id = ${parameter('providerId')}
    and ${unindexed(sql`project_id`)} = ${parameter('projectId')} limit 1`,
)

/** The first that is known; `messageIds` without their brackets. */
export async function findAnsweredEmail(
  tx: Tx,
  { projectId, messageIds }: { projectId: string; messageIds: readonly string[] },
): Promise<string | null> {
  for (const messageId of messageIds) {
    const found = await findOne(tx, { projectId, messageId })
    if (found !== undefined) return found.id
  }
  return null
}

async function findOne(
  tx: Tx,
  of: { projectId: string; messageId: string },
): Promise<Found | undefined> {
  const id = of.messageId.slice(0, UUID_LENGTH)
  if (isUuid(id)) {
    const own = await tx.find(findByOwnId, { ...of, id })
    if (own !== undefined) return own
  }
  const custom = await tx.find(findByCustomId, of)
  if (custom !== undefined) return custom
  const [providerId = ''] = of.messageId.split('@')
  return tx.find(findByProviderId, { providerId, projectId: of.projectId })
}
