/**
 * What operators do to mail in the queue: look, retry, cancel, hold and release.
 */

import { AppError } from '../../../errors.ts'
import { eq } from '../../../store/drizzle.ts'
import { type Attempt, attempts, type Email, emails } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { failEmail } from '../outcome/outcome.ts'
import { giveUpAfterMs } from './give-up-after.ts'
import type { QueueNotifier } from './notifier.ts'

export type { Step } from '../../../outbound/attempt.ts'
export type { Attempt, Email } from '../../../store/schema/messages.ts'
export type { Explanation } from '../explain/explain.ts'
export { explainEmails, type FindLiveState } from '../explain/explain-emails.ts'
export { isReport, reportPrefix } from '../outcome/report-row.ts'
export { bringForward, listWaitingDomains } from './bring-forward.ts'
export {
  holdDomain,
  isDomainHeld,
  type ListedHold,
  listHolds,
  releaseDomain,
  releaseStray,
} from './holds.ts'
export { findOldestDue } from './oldest-due.ts'
export {
  countEnded,
  countListed,
  countQueue,
  type EndedCount,
  listQueue,
  type QueuedEmail,
  type QueueFilter,
  queueStates,
} from './queue-list.ts'

export type EmailHistory = { email: Email; attempts: Attempt[] }

/** The whole story of a message. @throws AppError RESOURCE_NOT_FOUND */
export async function getEmailHistory(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<EmailHistory> {
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
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (delivered, bounced, being sent, its content cleared
 *   by retention ...); nothing is done then
 */
export async function retryEmails(
  core: Pick<Base, 'store' | 'config' | 'now'> & { queueNotifier: QueueNotifier },
  ids: readonly string[],
): Promise<void> {
  await core.store.write(async (tx) => {
    for (const id of ids) await retryEmail(core, tx, id)
  })
}

async function retryEmail(
  core: Pick<Base, 'config' | 'now'> & { queueNotifier: QueueNotifier },
  tx: Tx,
  id: string,
): Promise<void> {
  const email = await getEmail(tx, id)
  if (!['queued', 'deferred', 'failed'].includes(email.state)) {
    throw new AppError('CONFLICT', `Email ${id} is ${email.state}: there is nothing to retry.`)
  }
  if (email.variables === null) {
    throw new AppError('CONFLICT', `Email ${id} is old: its content was cleared by retention.`)
  }
  const now = core.now()
  const renewed =
    email.state === 'failed'
      ? {
          giveUpAt: now + giveUpAfterMs(core.config, email.queueClass),
          failureCount: 0,
          error: null,
        }
      : {}
  await tx
    .update(emails)
    .set({
      ...renewed,
      state: email.attemptCount === 0 ? 'queued' : 'deferred',
      status: 'PENDING',
      // What has been due for a while keeps its place before what came later.
      dueAt: Math.min(email.dueAt ?? now, now),
      updatedAt: now,
    })
    .where(eq(emails.id, id))
  tx.afterCommit(() => core.queueNotifier.notify('anywhere'))
}

/** @throws AppError RESOURCE_NOT_FOUND, CONFLICT (no longer waiting); nothing is done then */
export async function cancelEmails(
  { store, now, ...core }: Pick<Base, 'store' | 'counters' | 'now' | 'log'>,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) {
      const email = await getEmail(tx, id)
      if (!['queued', 'deferred', 'held'].includes(email.state)) {
        throw new AppError('CONFLICT', `Email ${id} is ${email.state}: it cannot be cancelled.`)
      }
      await failEmail(core, tx, { email, error: 'cancelled', at: now() })
    }
  })
}

async function getEmail(tx: Tx, id: string): Promise<Email> {
  const email = await tx.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) throw notFound(id)
  return email
}

function notFound(id: string): AppError {
  return new AppError('RESOURCE_NOT_FOUND', `There is no email ${id}.`, {
    details: { resource: 'email', id },
  })
}
