/**
 * Limits of received mail: the stored bytes, so that senders cannot fill the disk, and the
 * messages of one network or sender in an hour. Triggers maintain the sums of bytes in
 * `inbound_usage`, so a check reads one row.
 *
 * | mail                     | limit                                                                  |
 * |--------------------------|------------------------------------------------------------------------|
 * | to a project's mailboxes | `inbound.max_bytes_per_project`; beyond it, the mailbox is full        |
 * |                          | (`hasSpace`); 30 an hour of a sender to a mailbox, 1,000 to a project, |
 * |                          | and later ones are marked `isCapped` (`countFromSender`)               |
 * | to the server itself     | 1 MB each, 100 MB in all, 20 an hour from a network                    |
 * |                          | (`createServerMailLimit`)                                              |
 * | reports, unsubscriptions | none while they wait; their octets are deleted once they are parsed,   |
 * |                          | except unrecognised reports: up to 1 MB each, 100 MB in all            |
 */
import ipaddr from 'ipaddr.js'
import { HOUR_MS, type Now } from '../../../base/clock.ts'
import { createLru } from '../../../base/lru.ts'
import { rowNumber } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { inboundUsage } from '../../../store/schema/inbound.ts'
import type { InboundRecipient } from '../../../store/schema/json-values.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Reader } from '../../../store/store.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'

const MAX_NETWORKS = 10_000
const MAX_PER_HOUR = 20
/** The most messages of one sender to a mailbox in an hour. */
const MAX_PER_MAILBOX = 30
/** The most messages of one sender to all mailboxes of a project in an hour. */
const MAX_PER_PROJECT = 1_000

/** The most bytes of one message to the server itself. */
export const MAX_SERVER_MESSAGE_BYTES = 1024 * 1024
/**
 * The most bytes of all messages to the server itself. Unrecognised reports have a limit of the
 * same size.
 */
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

/** Requires that a message of `sizeBytes` may be stored for this recipient. @throws MailboxFull */
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

/**
 * Whether the octets of an unrecognised report may stay. The stored usage already includes them.
 */
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

export type ServerMailLimit = {
  /** Whether the network of this address may send another message. */
  allows(address: string): boolean
  /** Counts a message and returns a function that undoes the count; undefined beyond the limit. */
  count(address: string): (() => void) | undefined
}

/**
 * Limits messages to the server itself (`postmaster`, `abuse`) to 20 an hour from one network. The
 * counts of 10,000 networks are in memory; the least recently used one is dropped.
 * `work/limiter.ts` does not fit: a count is taken back when the message was not accepted after
 * all.
 */
export function createServerMailLimit(now: Now): ServerMailLimit {
  const networks = createLru<number[]>(MAX_NETWORKS)

  function recent(network: string): number[] {
    const at = now()
    // The distance in both directions counts, so that a clock that was set back blocks no network
    // for longer.
    return (networks.get(network) ?? []).filter((one) => Math.abs(at - one) < HOUR_MS)
  }

  return {
    allows: (address) => recent(clientNetworkOf(address)).length < MAX_PER_HOUR,
    count(address) {
      const network = clientNetworkOf(address)
      const counted = recent(network)
      if (counted.length >= MAX_PER_HOUR) return undefined
      const at = now()
      networks.set(network, [...counted, at])
      return () => {
        const left = recent(network)
        const index = left.lastIndexOf(at)
        networks.set(network, left.toSpliced(index, index === -1 ? 0 : 1))
      }
    },
  }
}

type SentMessage = {
  projectId: string
  mailbox: string
  /** The sender's address, if SPF or DKIM passes for it; otherwise null. */
  authenticated: string | null
  clientAddress: string
  at: number
}

/**
 * Counts messages of the last hour. Rows in the future are left out, so that a clock that was set
 * back caps no sender.
 */
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

/** Deletes at most 10 expired rows. Every message runs this once. */
export const deleteExpiredReceived = statement(
  () => sql`delete from received_recently where ${rowNumber()} in (
    select ${rowNumber()} from received_recently where at <= ${parameter('after')} order by at limit 10)`,
)

/**
 * Counts a message of a sender. An authenticated sender counts by its address. All others count by
 * the client's network, because anyone can write any address into a message: forged mail in a
 * customer's name must not use up the customer's limit. Returns the reason, as text, when the
 * message is over its sender's limit.
 */
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

/** Returns the /24 of an IPv4 address or the /48 of an IPv6 address; other text unchanged. */
export function clientNetworkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  const bits = parsed.kind() === 'ipv4' ? 24 : 48
  const octets = parsed.toByteArray().map((octet, index) => (index * 8 < bits ? octet : 0))
  return `${ipaddr.fromByteArray(octets).toString()}/${bits}`
}
