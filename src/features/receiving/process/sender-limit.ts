/**
 * What came within the last hour, by who sent it. A sender that proved to be who it says counts by
 * its address; all others count by the network of the client, for anybody may write any address
 * into a message: what strangers send in a customer's name takes nothing from the customer.
 */
import { HOUR_MS } from '../../../clock.ts'
import { rowNumber } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { networkOf } from '../client-network.ts'

export type Coming = {
  projectId: string
  mailbox: string
  /** The sender's address; null unless SPF or DKIM speaks for it. */
  authenticated: string | null
  clientAddress: string
  at: number
}

const MAX_PER_MAILBOX = 30
/** To whatever mailboxes of a project. */
const MAX_PER_PROJECT = 1_000

/** A clock that was set back caps nobody: what seems to lie ahead is left out. */
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

/** A few at a time, with each that comes. */
export const deleteExpiredReceived = statement(
  () => sql`delete from received_recently where ${rowNumber()} in (
    select ${rowNumber()} from received_recently where at <= ${parameter('after')} order by at limit 10)`,
)

/** Counts a message; why it is capped, for people, when its sender has sent enough. */
export async function countFromSender(tx: Tx, coming: Coming): Promise<string | undefined> {
  const { authenticated, clientAddress, at, ...to } = coming
  const sender = authenticated ?? networkOf(clientAddress)
  const after = at - HOUR_MS
  await tx.execute(deleteExpiredReceived, { after })
  const found = await tx.find(countReceived, { ...to, sender, after, at })
  const { own, all } = found ?? { own: 0, all: 0 }
  if (own < MAX_PER_MAILBOX && all < MAX_PER_PROJECT) {
    await tx.execute(insertRecent, { ...to, sender, at })
    return undefined
  }
  const who = authenticated === null ? `unproven senders of the network ${sender}` : sender
  const most = own < MAX_PER_MAILBOX ? MAX_PER_PROJECT : MAX_PER_MAILBOX
  return `capped: more than ${most} of ${who} within an hour`
}
