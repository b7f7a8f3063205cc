/**
 * How a received message relates to mail of this server: the signed tokens that a returned message
 * quotes, the email that a message answers, and its depth in a chain of workflows.
 */
import { DAY_MS } from '../../../../base/clock.ts'
import {
  type EmailToken,
  readReturnPathLocalPart,
  readUnsubscribeLocalPart,
} from '../../../../formats/signed-tokens.ts'
import { unindexed } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { idTime, isUuid } from '../../../../store/ids.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { depthsOfEmails } from '../../../ground/events/depth.ts'

/** How long a bounce counts after the creation of its email (the time in the id). */
const VALID_MS = 30 * DAY_MS

type AnsweredEmail = { id: string }

const UUID_LENGTH = 36

export const findByOwnId = statement<AnsweredEmail>(
  () => sql`select id from emails where id = ${parameter('id')}
    and message_id = ${parameter('messageId')} and project_id = ${parameter('projectId')}
    and source_type <> 'INBOUND'`,
)

export const findByCustomId = statement<AnsweredEmail>(
  () => sql`select id from emails where substr(message_id, 1, 36) <> id
    and message_id = ${parameter('messageId')} and ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and source_type <> 'INBOUND' limit 1`,
)

export const findByProviderId = statement<AnsweredEmail>(
  () => sql`select id from emails where provider_id = ${parameter('providerId')}
    and ${unindexed(sql`project_id`)} = ${parameter('projectId')} limit 1`,
)

/**
 * Returns the emails whose tokens this server has signed, each once. A token is `b.…` (return path), `u.…`
 * (unsubscribe address) or the value of X-Pillarbox-Id.
 */
export function readOwnTokens(
  { keyring }: Pick<Base, 'keyring'>,
  tokens: readonly string[],
): EmailToken[] {
  const returnKeys = keyring.keys('return-path')
  const unsubscribeKeys = keyring.keys('mail-in-unsubscribe')
  const emails = tokens.map((token) =>
    token.startsWith('u.')
      ? readUnsubscribeLocalPart(unsubscribeKeys, token)
      : readReturnPathLocalPart(returnKeys, token.startsWith('b.') ? token : `b.${token}`),
  )
  const known = emails.filter((email) => email !== undefined)
  return [...new Map(known.map((email) => [email.emailId, email])).values()]
}

/** Whether a bounce comes too late to be applied to this email. */
export function isExpired(emailId: string, at: number): boolean {
  return at - idTime(emailId) > VALID_MS
}

/**
 * Finds the email that a message answers, by In-Reply-To and References: the email of the first
 * known Message-ID. Message-IDs of this server begin with the email's id; Message-IDs that a
 * client chose have an index. A provider may have replaced the Message-ID with its own id, which
 * is in `provider_id`. `messageIds` are without angle brackets.
 */
export async function findAnsweredEmail(
  tx: Tx,
  { projectId, messageIds }: { projectId: string; messageIds: readonly string[] },
): Promise<string | null> {
  for (const messageId of messageIds) {
    const email = await findByMessageId(tx, { projectId, messageId })
    if (email !== undefined) return email.id
  }
  return null
}

async function findByMessageId(
  tx: Tx,
  ids: { projectId: string; messageId: string },
): Promise<AnsweredEmail | undefined> {
  const id = ids.messageId.slice(0, UUID_LENGTH)
  if (isUuid(id)) {
    const own = await tx.find(findByOwnId, { ...ids, id })
    if (own !== undefined) return own
  }
  const custom = await tx.find(findByCustomId, ids)
  if (custom !== undefined) return custom
  const [providerId = ''] = ids.messageId.split('@')
  return tx.find(findByProviderId, { providerId, projectId: ids.projectId })
}

type Causes = {
  /** The email of this server that the received message is a copy of, if any. */
  sentEmailId: string | null
  /** The email that the message answers. */
  answeredEmailId: string | null
  /** Whether a machine sent the message, or may have sent it (its sender is over a limit). */
  isAutomatic: boolean
}

/**
 * Finds the depth of a message in a chain of workflows (`workflows/chains`); undefined if no
 * execution is the reason for the message. Two kinds of messages have a depth: a message that an
 * execution of another project of this server sent, and an answer to mail of an execution by a
 * machine, or by a sender beyond its limit. Two servers that answer each other therefore stop. A
 * person's answer begins a new chain: the person decides whether there is a next one.
 */
export async function findChainDepth(
  tx: Pick<Tx, 'list'>,
  { sentEmailId, answeredEmailId, isAutomatic }: Causes,
): Promise<number | undefined> {
  const ids = [sentEmailId, isAutomatic ? answeredEmailId : null].filter((id) => id !== null)
  const depths = await depthsOfEmails(tx, ids)
  return depths.size === 0 ? undefined : Math.max(...depths.values())
}
