/**
 * What operators do to mail in the queue: look, retry, cancel, hold and release. A held email keeps
 * its place, and its give-up clock stops until it is released.
 */
import { AppError } from '../../errors.ts'
import { and, count, desc, eq, inArray, like, type SQL, sql } from '../../store/drizzle.ts'
import {
  type Attempt,
  attempts,
  type Email,
  emails,
  holds,
  type QueueState,
} from '../../store/schema.ts'
import { rowsChanged, type Tx } from '../../store/store.ts'
import type { Core } from '../core.ts'
import { failEmail } from './outcome.ts'

export type { Step } from '../../outbound/attempt.ts'
export type { Attempt, Email } from '../../store/schema.ts'

export type QueueFilter = {
  state?: QueueState | undefined
  /** Recipient domain, A-label. */
  domain?: string | undefined
  /** Sender domain, as in the From address. */
  senderDomain?: string | undefined
  limit?: number | undefined
}

export type QueuedEmail = Pick<
  Email,
  | 'id'
  | 'recipient'
  | 'fromAddress'
  | 'subject'
  | 'state'
  | 'status'
  | 'dueAt'
  | 'retryAt'
  | 'attemptCount'
>

export const queueStates: readonly QueueState[] = [
  'queued',
  'deferred',
  'held',
  'sending',
  'delivered',
  'relayed',
  'bounced',
  'failed',
  'suppressed',
]

const OPEN_STATES: QueueState[] = ['queued', 'deferred', 'held', 'sending']
const WAITING_STATES: QueueState[] = ['queued', 'deferred']
const CHUNK = 500

/** Newest first; without a state, what is still on its way. */
export async function listQueue(
  { store }: Pick<Core, 'store'>,
  filter: QueueFilter,
): Promise<QueuedEmail[]> {
  const conditions: SQL[] = [
    filter.state === undefined
      ? inArray(emails.state, OPEN_STATES)
      : eq(emails.state, filter.state),
  ]
  if (filter.domain !== undefined) conditions.push(eq(emails.recipientDomain, filter.domain))
  if (filter.senderDomain !== undefined) {
    conditions.push(like(emails.fromAddress, `%@${filter.senderDomain}`))
  }
  return store.scan
    .select()
    .from(emails)
    .where(and(...conditions))
    .orderBy(desc(emails.id))
    .limit(filter.limit ?? 1_000)
    .all()
}

/** How many emails stand in each state on the way. */
export async function countQueue({
  store,
}: Pick<Core, 'store'>): Promise<{ state: QueueState; count: number }[]> {
  return store.scan
    .select({ state: emails.state, count: count() })
    .from(emails)
    .where(inArray(emails.state, OPEN_STATES))
    .groupBy(emails.state)
    .all()
}

export type EmailStory = { email: Email; attempts: Attempt[] }

/** The whole story of a message. @throws AppError RESOURCE_NOT_FOUND */
export async function showEmail({ store }: Pick<Core, 'store'>, id: string): Promise<EmailStory> {
  const email = await store.read.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) throw notFound(id)
  const tries = await store.read
    .select()
    .from(attempts)
    .where(eq(attempts.emailId, id))
    .orderBy(attempts.id)
    .all()
  return { email, attempts: tries }
}

/**
 * Makes waiting emails due at once; one that failed is tried again, with a new give-up time.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (delivered, bounced, being sent ...); nothing is done then
 */
export async function retryEmails(
  core: Pick<Core, 'store' | 'config' | 'now' | 'bell'>,
  ids: readonly string[],
): Promise<void> {
  await core.store.write(async (tx) => {
    for (const id of ids) await retryEmail(core, tx, id)
  })
}

async function retryEmail(
  core: Pick<Core, 'config' | 'now' | 'bell'>,
  tx: Tx,
  id: string,
): Promise<void> {
  const email = await getEmail(tx, id)
  if (!['queued', 'deferred', 'failed'].includes(email.state)) {
    throw new AppError('CONFLICT', `Email ${id} is ${email.state}: there is nothing to retry.`)
  }
  const now = core.now()
  const renewed =
    email.state === 'failed'
      ? { giveUpAt: now + giveUpMs(core, email), failureCount: 0, error: null }
      : {}
  await tx
    .update(emails)
    .set({
      ...renewed,
      state: email.attemptCount === 0 ? 'queued' : 'deferred',
      status: 'PENDING',
      dueAt: now,
      updatedAt: now,
    })
    .where(eq(emails.id, id))
  tx.afterCommit(() => core.bell.ring('anywhere'))
}

/** @throws AppError RESOURCE_NOT_FOUND, CONFLICT (no longer waiting); nothing is done then */
export async function cancelEmails(
  { store, now }: Pick<Core, 'store' | 'now'>,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) {
      const email = await getEmail(tx, id)
      if (!['queued', 'deferred', 'held'].includes(email.state)) {
        throw new AppError('CONFLICT', `Email ${id} is ${email.state}: it cannot be cancelled.`)
      }
      await failEmail(tx, email, { error: 'cancelled', at: now() })
    }
  })
}

/** Holds all mail to a recipient domain (A-label), now and to come; how many emails now wait. */
export async function holdDomain(core: Pick<Core, 'store' | 'directory' | 'now'>, domain: string) {
  await core.store.write(async (tx) => {
    await tx.insert(holds).values({ domain, heldAt: core.now() }).onConflictDoNothing()
    tx.afterCommit(() => core.directory.drop())
  })
  return inChunks((tx) => {
    const now = core.now()
    return tx
      .update(emails)
      .set({ state: 'held', heldAt: now, dueAt: null, updatedAt: now })
      .where(inArray(emails.id, waitingIds(domain)))
  }, core)
}

/** Releases it; how many emails are due again. */
export async function releaseDomain(
  core: Pick<Core, 'store' | 'directory' | 'bell' | 'now'>,
  domain: string,
): Promise<number> {
  await core.store.write(async (tx) => {
    await tx.delete(holds).where(eq(holds.domain, domain))
    tx.afterCommit(() => core.directory.drop())
  })
  const released = await inChunks((tx) => {
    const now = core.now()
    return tx
      .update(emails)
      .set({
        state: sql`case when ${emails.attemptCount} > 0 then 'deferred' else 'queued' end`,
        giveUpAt: sql`${emails.giveUpAt} + ${now} - ${emails.heldAt}`,
        dueAt: sql`${emails.createdAt}`,
        heldAt: null,
        updatedAt: now,
      })
      .where(inArray(emails.id, heldIds(domain)))
  }, core)
  core.bell.ring('anywhere')
  return released
}

function waitingIds(domain: string): SQL {
  return sql`(select id from emails where due_at is not null and queue_class in (1, 5, 10)
    and recipient_domain = ${domain} and state in ${WAITING_STATES} limit ${CHUNK})`
}

function heldIds(domain: string): SQL {
  return sql`(select id from emails where state = 'held' and recipient_domain = ${domain}
    order by id limit ${CHUNK})`
}

/** A bulk change in short transactions, so that nobody waits long for the writer. */
async function inChunks(
  change: (tx: Tx) => PromiseLike<Parameters<typeof rowsChanged>[0]>,
  { store }: Pick<Core, 'store'>,
): Promise<number> {
  let total = 0
  for (;;) {
    const changed = await store.write(async (tx) => rowsChanged(await change(tx)))
    total += changed
    if (changed < CHUNK) return total
    await new Promise((resolve) => setImmediate(resolve))
  }
}

async function getEmail(tx: Tx, id: string): Promise<Email> {
  const email = await tx.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) throw notFound(id)
  return email
}

function giveUpMs({ config }: Pick<Core, 'config'>, { queueClass }: Email): number {
  const { transactional, workflow, campaign } = config.delivery.giveUpAfter
  return { 1: transactional, 5: workflow, 10: campaign }[queueClass]
}

function notFound(id: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', `There is no email ${id}.`, {
    details: { resource: 'email', id },
  })
}
