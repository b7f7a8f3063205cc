/**
 * Adds emails that were sent or received to batches, in the transaction in which the reader of events
 * has read them. So each is added once, whatever happens. Mail of projects without a subscription, mail
 * that was sent before it, and mail of the server to its users is not charged. Emails from before a fence
 * have batches of their own, which it holds.
 */
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { and, desc, eq, isNotNull, isNull, sql } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { projects } from '../../../../store/schema/accounts.ts'
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import { type MeteringBatch, meteringBatches } from '../../../../store/schema/billing.ts'
import { contents, emails } from '../../../../store/schema/messages.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { findFenceSeqs } from '../../../ground/fence/rows.ts'
import { METERED } from '../../../ground/usage/follow-events.ts'
import type { WithStripe } from '../require-stripe.ts'
import { MAX_EMAILS, mayTake, OPEN, timeOf } from './batches.ts'

/** The fields of an event that metering needs. */
export type MeteredEvent = Pick<
  CountedEvent,
  'seq' | 'projectId' | 'name' | 'emailId' | 'createdAt' | 'isPlatform'
>

type Deps = WithStripe & Pick<Base, 'now'>
type Email = { id: string; credits: number; at: number }
type Subscriber = { id: string; customer: string | null; subscribedAt: number | null }
type OpenBatch = Pick<
  MeteringBatch,
  'id' | 'projectId' | 'customer' | 'credits' | 'occurredAt' | 'emailIds' | 'isHeld'
>

/** `isNew`: whether the batch has no row yet. */
type Growing = OpenBatch & { isNew: boolean }

const WITH_ATTACHMENTS = 2

const listSubscribers = statement((db) =>
  db
    .select({
      id: projects.id,
      customer: projects.customer,
      subscribedAt: projects.subscribedAt,
    })
    .from(projects)
    .where(
      and(
        sql`${projects.id} in ${listOf(parameter('ids'))}`,
        isNotNull(projects.subscription),
        isNotNull(projects.customer),
      ),
    ),
)

/** Lists which of the emails have attachments, in the row of their content or in chunks. */
const listAttaching = statement((db) =>
  db
    .select({ id: emails.id })
    .from(emails)
    .innerJoin(contents, eq(contents.id, emails.contentId))
    .where(
      and(
        sql`${emails.id} in ${listOf(parameter('ids'))}`,
        sql`(${contents.attachments} is not null or ${contents.chunkBytes} > 0)`,
      ),
    ),
)

const findOpen = statement((db) =>
  db
    .select({
      id: meteringBatches.id,
      projectId: meteringBatches.projectId,
      customer: meteringBatches.customer,
      credits: meteringBatches.credits,
      occurredAt: meteringBatches.occurredAt,
      emailIds: meteringBatches.emailIds,
      isHeld: meteringBatches.isHeld,
    })
    .from(meteringBatches)
    .where(
      and(
        sql`${meteringBatches.projectId} = ${parameter('projectId')}`,
        OPEN,
        eq(meteringBatches.state, 'waiting'),
        isNull(meteringBatches.firstTriedAt),
        sql`${meteringBatches.isHeld} = ${parameter('isHeld')}`,
        // The customer is compared without an index, because the index of open batches is short.
        sql`${unindexed(meteringBatches.customer)} = ${parameter('customer')}`,
      ),
    )
    .orderBy(desc(meteringBatches.occurredAt))
    .limit(1),
)

const findNewest = statement((db) =>
  db
    .select({ occurredAt: meteringBatches.occurredAt })
    .from(meteringBatches)
    .where(sql`${meteringBatches.customer} = ${parameter('customer')}`)
    .orderBy(desc(meteringBatches.occurredAt))
    .limit(1),
)

const insertBatch = statement((db) =>
  db.insert(meteringBatches).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    customer: parameter('customer'),
    credits: parameter('credits'),
    occurredAt: parameter('occurredAt'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
    emailIds: parameter('emailIds'),
    isHeld: parameter('isHeld'),
  }),
)

const growBatch = statement((db) =>
  db
    .update(meteringBatches)
    .set({
      credits: parameter('credits'),
      emailIds: parameter('emailIds'),
      updatedAt: parameter('at'),
    })
    .where(sql`${meteringBatches.id} = ${parameter('id')}`),
)

/**
 * Adds events to batches. `events`: in the order of their numbers; the caller passes each event
 * once.
 */
export async function meter(deps: Deps, tx: Tx, events: readonly MeteredEvent[]): Promise<void> {
  if (deps.stripe === null) return
  const metered = events.filter(isMetered)
  if (metered.length === 0) return
  const ids = JSON.stringify([...new Set(metered.map(({ projectId }) => projectId))])
  const subscribers = await tx.list(listSubscribers, { ids })
  if (subscribers.length === 0) return
  const fences = await findFenceSeqs(tx, metered)
  for (const subscriber of subscribers) {
    const own = metered.filter(({ projectId }) => projectId === subscriber.id)
    const fenceSeq = fences.get(subscriber.id) ?? 0
    const [fenced, free] = [
      own.filter((e) => e.seq <= fenceSeq),
      own.filter((e) => e.seq > fenceSeq),
    ]
    await add(deps, tx, { subscriber, added: await toEmails(tx, subscriber, fenced), isHeld: true })
    await add(deps, tx, { subscriber, added: await toEmails(tx, subscriber, free), isHeld: false })
  }
}

function isMetered({ name, emailId, isPlatform }: MeteredEvent): boolean {
  return METERED.includes(name) && emailId !== null && isPlatform !== true
}

async function toEmails(
  tx: Tx,
  { subscribedAt }: Subscriber,
  events: readonly MeteredEvent[],
): Promise<Email[]> {
  const since = subscribedAt ?? 0
  const charged = events.filter(({ createdAt }) => createdAt >= since)
  const outgoing = charged.filter(({ name }) => name === 'email.sent')
  const ids = JSON.stringify(outgoing.map(({ emailId }) => emailId))
  const found = outgoing.length === 0 ? [] : await tx.list(listAttaching, { ids })
  const attaching = new Set(found.map(({ id }) => id))
  return charged.flatMap(({ emailId, createdAt: at }) => {
    if (emailId === null) return []
    return [{ id: emailId, credits: attaching.has(emailId) ? WITH_ATTACHMENTS : 1, at }]
  })
}

async function add(
  deps: Deps,
  tx: Tx,
  {
    subscriber: { id: projectId, customer },
    added,
    isHeld,
  }: { subscriber: Subscriber; added: readonly Email[]; isHeld: boolean },
): Promise<void> {
  if (customer === null || added.length === 0) return
  const at = deps.now()
  const found = await tx.find(findOpen, { projectId, customer, isHeld: isHeld ? 1 : 0 })
  let current: Growing | undefined = found && { ...found, isNew: false }
  for (const email of added) {
    if (current === undefined || !fits(current, email)) {
      if (current !== undefined) await save(tx, current, at)
      current = await open(tx, { projectId, customer, isHeld, at: email.at })
    }
    current.credits += email.credits
    current.emailIds.push(email.id)
  }
  if (current !== undefined) await save(tx, current, at)
}

function fits({ emailIds, occurredAt }: OpenBatch, { at }: Email): boolean {
  return emailIds.length < MAX_EMAILS && mayTake(occurredAt, at)
}

async function open(
  tx: Tx,
  { at, ...owner }: Pick<OpenBatch, 'isHeld' | 'projectId' | 'customer'> & { at: number },
): Promise<Growing> {
  const { customer } = owner
  const newest = await tx.find(findNewest, { customer })
  const occurredAt = timeOf(at, newest?.occurredAt ?? null)
  return { id: newId(), ...owner, credits: 0, occurredAt, emailIds: [], isNew: true }
}

async function save(tx: Tx, { isNew, ...batch }: Growing, at: number): Promise<void> {
  await tx.execute(isNew ? insertBatch : growBatch, { ...batch, at })
}
