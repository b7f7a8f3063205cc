/**
 * Limits the mail of one sender within an hour: the events of mail beyond the limit are marked
 * `isCapped`. An authenticated sender counts by its address. All others count by the client's
 * network, because anyone can write any address into a message: forged mail in a customer's name
 * must not use up the customer's limit.
 */
import { HOUR_MS } from '../../../../base/clock.ts'
import { rowNumber } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { clientNetworkOf } from '../client-network.ts'

type SentMessage = {
  projectId: string
  mailbox: string
  /** The sender's address; null unless SPF or DKIM passes for it. */
  authenticated: string | null
  clientAddress: string
  at: number
}

const MAX_PER_MAILBOX = 30
/** To all mailboxes of a project together. */
const MAX_PER_PROJECT = 1_000

/** Leaves out rows in the future, so that a clock that was set back caps no sender. */
export const countReceived = statement<{ own: number; all: number }>(
  () => sql`select count(*) filter (where mailbox = ${parameter('mailbox')}) as own,
      count(*) as "all"
    from received_recently
    where project_id = ${parameter('projectId')} and sender = ${parameter('sender')}
      and at > ${parameter('after')} and at <= ${parameter('at')}`,
)

const insertRecent = statement(
  () => sql`insert into received_recently (project_id, sender, mailbox, at) values (
    ${parameter('projectId')}, ${parameter('sender')}, ${parameter('mailbox')}, ${parameter('at')})`,
)

/** Deletes at most 10 expired rows; it runs with every message. */
export const deleteExpiredReceived = statement(
  () => sql`delete from received_recently where ${rowNumber()} in (
    select ${rowNumber()} from received_recently where at <= ${parameter('after')} order by at limit 10)`,
)

/** Counts a message. Returns the reason, as text, when the message is over its sender's limit. */
export async function countFromSender(tx: Tx, message: SentMessage): Promise<string | undefined> {
  const { authenticated, clientAddress, at, ...to } = message
  const sender = authenticated ?? clientNetworkOf(clientAddress)
  const after = at - HOUR_MS
  await tx.execute(deleteExpiredReceived, { after })
  const counts = await tx.find(countReceived, { ...to, sender, after, at })
  const { own, all } = counts ?? { own: 0, all: 0 }
  if (own < MAX_PER_MAILBOX && all < MAX_PER_PROJECT) {
    await tx.execute(insertRecent, { ...to, sender, at })
    return undefined
  }
  const who = authenticated === null ? `unauthenticated senders of the network ${sender}` : sender
  const limit = own < MAX_PER_MAILBOX ? MAX_PER_PROJECT : MAX_PER_MAILBOX
  return `capped: more than ${limit} from ${who} within an hour`
}
