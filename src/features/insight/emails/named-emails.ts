/** Finds emails by their id or Message-ID. */
import { unindexed } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

const findById = statement<{ id: string }>(
  () => sql`select id from emails
    where id = ${parameter('id')} and project_id = ${parameter('projectId')}`,
)

/** Finds an email by the id at the beginning of its Message-ID, or by the Message-ID itself. */
const findByMessageId = statement<{ id: string }>(
  () => sql`select id from emails where id = ${parameter('id')}
      and message_id = ${parameter('messageId')} and project_id = ${parameter('projectId')}
    union all select id from emails where substr(message_id, 1, 36) <> id
      and message_id = ${parameter('messageId')} and ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    limit 100`,
)

const findAnywhere = statement<{ id: string }>(
  () => sql`select id from emails where id = ${parameter('id')} and message_id = ${parameter('messageId')}
    union all select id from emails where substr(message_id, 1, 36) <> id
      and message_id = ${parameter('messageId')}
    limit 1`,
)

/**
 * Finds an email of any project by its Message-ID, for operators; undefined if the text is no Message-ID of
 * an email.
 */
export async function findIdByMessageId(
  { store }: Pick<Base, 'store'>,
  text: string,
): Promise<string | undefined> {
  if (!text.includes('@')) return undefined
  const messageId = text.trim().replace(/^<|>$/g, '')
  const id = messageId.slice(0, 36).toLowerCase()
  return (await store.read.find(findAnywhere, { id, messageId }))?.id
}

/**
 * Returns the ids of the emails whose id or Message-ID is the search text; undefined if the text is
 * neither.
 */
export async function findNamedEmails(
  { store }: Pick<Base, 'store'>,
  { projectId, search = '' }: { projectId: string; search?: string | undefined },
): Promise<string[] | undefined> {
  const text = search.trim()
  const asId = text.toLowerCase()
  if (isUuid(asId)) {
    return (await store.read.list(findById, { id: asId, projectId })).map(({ id }) => id)
  }
  if (!text.includes('@')) return undefined
  const messageId = text.replace(/^<|>$/g, '')
  const id = messageId.slice(0, 36).toLowerCase()
  const found = await store.read.list(findByMessageId, { id, messageId, projectId })
  return found.length === 0 && messageId === text ? undefined : found.map((email) => email.id)
}
