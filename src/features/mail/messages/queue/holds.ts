/**
 * Recipient domains that an operator holds. A held email keeps its place in the queue, and its
 * give-up clock stops until it is released.
 *
 * The table `holds` has the domains; the state of an email says whether it is held. The two can
 * differ for a moment, because acceptance and delivery use a cached set of domains: delivery holds
 * an email that should have been held, and `releaseStray` releases one that should not.
 */

import { holdsItsMail } from '../../../../store/campaign-terms.ts'
import { listOf } from '../../../../store/dialect.ts'
import { and, eq, inArray, type SQL, sql } from '../../../../store/drizzle.ts'
import { waitingState } from '../../../../store/email-terms.ts'
import { emails, type Hold, holds } from '../../../../store/schema/messages.ts'
import { onShelves, SHELF, shelfInState } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { isOlderThanFence } from '../fenced/waiting-rows.ts'
import { ANY_CLASS } from './any-class.ts'
import { inBatches, QUEUE_BATCH_ROWS } from './in-batches.ts'
import type { QueueNotifier } from './notifier.ts'

const findHold = statement((db) =>
  db
    .select({ domain: holds.domain })
    .from(holds)
    .where(eq(holds.domain, parameter('domain'))),
)

/** Whether a domain (A-labels) is held, read in the transaction; the cache is not used. */
export async function isDomainHeld(tx: Tx, domain: string): Promise<boolean> {
  return (await tx.find(findHold, { domain })) !== undefined
}

/** Holds all present and future mail to a domain (A-labels). Returns how many emails it held. */
export async function holdDomain(
  core: Pick<Base, 'store' | 'directory' | 'now'>,
  domain: string,
): Promise<number> {
  const { store, directory, now } = core
  await store.write(async (tx) => {
    await tx.insert(holds).values({ domain, heldAt: now() }).onConflictDoNothing()
    tx.afterCommit(() => directory.drop())
  })
  return inBatches(store, (tx) => {
    const at = now()
    return tx
      .update(emails)
      .set({ state: 'held', shelf: SHELF.held, heldAt: at, dueAt: null, updatedAt: at })
      .where(and(inArray(emails.id, waitingIds(domain)), isHoldWanted(domain)))
  })
}

/** `paused`: emails that wait for their paused campaigns. */
type ReleasedMail = { due: number; paused: number }

/** `isHeld`: whether the domain was held. */
type ReleasedDomain = ReleasedMail & { isHeld: boolean }

/** Releases a domain. Returns how many emails are due again, and how many are still paused. */
export async function releaseDomain(
  core: Pick<Base, 'store' | 'directory' | 'now'> & { queueNotifier: QueueNotifier },
  domain: string,
): Promise<ReleasedDomain> {
  const isHeld = await core.store.write(async (tx) => {
    const wasHeld = await isDomainHeld(tx, domain)
    await tx.delete(holds).where(eq(holds.domain, domain))
    tx.afterCommit(() => core.directory.drop())
    return wasHeld
  })
  return { ...(await releaseEmails(core, domain)), isHeld }
}

type ListedHold = Hold & { emails: number }

/** The held domains, newest first, with the number of emails that wait for each. */
export async function listHolds({ store }: Pick<Base, 'store'>): Promise<ListedHold[]> {
  return store.scan.all<ListedHold>(holdsWithCounts())
}

/** The held domains of these emails, each with the number of them. */
export async function listHoldsOf(
  { store }: Pick<Base, 'store'>,
  ids: readonly string[],
): Promise<{ domain: string; emails: number }[]> {
  return store.scan.all(sql`select recipient_domain as domain, count(*) as emails from emails
    where id in ${listOf([...ids])}
      and recipient_domain in (select domain from holds)
    group by recipient_domain order by recipient_domain`)
}

export function holdsWithCounts(): SQL {
  return sql`select domain, held_at as "heldAt", (select count(*) from emails
      where ${onShelves('held')} and recipient_domain = holds.domain) as emails
    from holds order by held_at desc, domain`
}

/** Releases held emails whose domain is not held. Returns their number. */
export async function releaseStray(
  core: Pick<Base, 'store' | 'now'> & { queueNotifier: QueueNotifier },
): Promise<number> {
  let released = 0
  for (const { domain } of await core.store.scan.all<{ domain: string }>(strayDomains())) {
    const { due, paused } = await releaseEmails(core, domain)
    released += due + paused
  }
  return released
}

async function releaseEmails(
  { store, queueNotifier, now }: Pick<Base, 'store' | 'now'> & { queueNotifier: QueueNotifier },
  domain: string,
): Promise<ReleasedMail> {
  let paused = 0
  const released = await inBatches(store, async (tx) => {
    const at = now()
    const rows = await tx
      .update(emails)
      .set({
        state: releasedState,
        shelf: shelfInState(releasedState),
        giveUpAt: sql`${emails.giveUpAt} + ${at} - ${emails.heldAt}`,
        dueAt: sql`case when not ${isOfPausedCampaign} then ${emails.createdAt} end`,
        heldAt: sql`case when ${isOfPausedCampaign} then ${at} end`,
        updatedAt: at,
      })
      .where(and(inArray(emails.id, heldIds(domain)), sql`not ${isHoldWanted(domain)}`))
      .returning({ state: emails.state })
    const stillPaused = rows.filter(({ state }) => state === 'paused').length
    tx.afterCommit(() => {
      paused += stillPaused
    })
    return { changes: rows.length }
  })
  const due = released - paused
  if (due > 0) queueNotifier.notify('anywhere')
  return { due, paused }
}

/**
 * The email stays paused after a release: its campaign is paused, or it is older than the fence of
 * its project.
 */
const isOfPausedCampaign = sql`(campaign_id is not null and campaign_id in (
    select id from campaigns where ${holdsItsMail})
  or ${isOlderThanFence})`

/** The state that an email gets when its domain is released. */
const releasedState = sql`case when ${isOfPausedCampaign} then 'paused' else ${waitingState} end`

/**
 * Whether the domain is still held: another operator may have released or held it between two
 * batches.
 */
function isHoldWanted(domain: string): SQL {
  return sql`exists (select 1 from holds where domain = ${domain})`
}

export function waitingIds(domain: string): SQL {
  return sql`(select id from emails where due_at is not null and ${ANY_CLASS}
    and recipient_domain = ${domain} limit ${QUEUE_BATCH_ROWS})`
}

export function heldIds(domain: string): SQL {
  return sql`(select id from emails where ${onShelves('held')} and recipient_domain = ${domain}
    order by id limit ${QUEUE_BATCH_ROWS})`
}

/** Seeks from domain to domain in the index; the number of emails does not matter. */
export function strayDomains(): SQL {
  return sql`with recursive held (domain) as (
      select min(recipient_domain) from emails where ${onShelves('held')}
      union all
      select (select min(recipient_domain) from emails
        where ${onShelves('held')} and recipient_domain > held.domain)
      from held where held.domain is not null
    )
    select domain from held where domain is not null and domain not in (select domain from holds)`
}
