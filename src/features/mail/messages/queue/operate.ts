/** Retries and cancels emails in the queue for an operator. */

import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { waitingState } from '../../../../store/email-terms.ts'
import { type Email, emails } from '../../../../store/schema/messages.ts'
import { shelfInState } from '../../../../store/shelves.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { countEmailAgain, type UsageDeps } from '../../../ground/usage/count.ts'
import { emailNotFound } from '../explain/email-history.ts'
import { REFUSAL_TEXTS } from '../explain/refusals.ts'
import { endEmails } from '../outcome/end-emails.ts'
import { uncountFailed } from '../outcome/uncount-failed.ts'
import { giveUpAfterMs } from './give-up.ts'
import type { QueueNotifier } from './notifier.ts'
import { findRetryable, RETRYABLE, type Retryable } from './retryable.ts'

const WAITING: readonly string[] = ['queued', 'deferred', 'sending']

type RetryDeps = UsageDeps & Pick<Base, 'now'> & { queueNotifier: QueueNotifier }

const BOUNCE_IS_FINAL = 'A bounce is final: to send it again, send a new email.'

/**
 * Makes waiting emails due at once. An email that failed is tried again with a new give-up time,
 * and counts for usage again. The limits of the project do not hold back an operator.
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (delivered, bounced, being sent, or it would fail
 *   again: see `retryable.ts`), BILLING_LIMIT_EXCEEDED (one that failed, and its project may send
 *   no more); after an error no email is changed
 */
export async function retryEmails(
  core: RetryDeps & Pick<Base, 'store'>,
  ids: readonly string[],
  { isOperator = false }: { isOperator?: boolean } = {},
): Promise<void> {
  await core.store.write(async (tx) => {
    const retryable = await findRetryable(tx, ids, core.now())
    for (const id of ids) {
      await retryEmail(core, tx, { id, facts: retryable.get(id) ?? RETRYABLE, isOperator })
    }
  })
}

async function retryEmail(
  core: RetryDeps,
  tx: Tx,
  { id, facts, isOperator }: { id: string; facts: Retryable; isOperator: boolean },
): Promise<void> {
  const email = await loadEmail(tx, id)
  if (email.state === 'paused') throw pausedEmail(email, facts)
  if (email.state === 'held') {
    const suggestion = `To send it, release its domain: pillarbox queue release --domain ${email.recipientDomain}`
    throw new AppError('CONFLICT', `Email ${id} is held.`, { suggestion })
  }
  if (email.isPlatform && !WAITING.includes(email.state)) throw notKept(email)
  if (!['queued', 'deferred', 'failed'].includes(email.state)) {
    const again = email.state === 'bounced' && { suggestion: BOUNCE_IS_FINAL }
    throw new AppError('CONFLICT', `Email ${id} is ${email.state}: there is nothing to retry.`, {
      ...again,
    })
  }
  if (facts.obstacle !== null) {
    throw new AppError(
      'CONFLICT',
      `Email ${id} cannot be retried: ${REFUSAL_TEXTS[facts.obstacle]}.`,
    )
  }
  const now = core.now()
  if (email.state === 'failed') {
    await countEmailAgain(core, tx, { email, at: now, isForced: isOperator })
  }
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
      state: waitingState,
      shelf: shelfInState(waitingState),
      status: 'PENDING',
      // An email that was due already keeps its due time, and so its place before later ones.
      dueAt: Math.min(email.dueAt ?? now, now),
      updatedAt: now,
    })
    .where(eq(emails.id, id))
  if (email.state === 'failed') await uncountFailed(tx, [id])
  tx.afterCommit(() => core.queueNotifier.notify('anywhere'))
}

function notKept({ id, state }: Email): AppError {
  const text = `Email ${id} is ${state}, and mail of the server to its users is not kept.`
  return new AppError('CONFLICT', text, { suggestion: 'Ask for a new link.' })
}

function pausedEmail(
  { id, projectId, campaignId }: Email,
  { isCampaignPaused, pace, isSenderVerified, projectHold, fencedSince }: Retryable,
): AppError {
  if (fencedSince !== null) {
    const suggestion = `To send it, release its project: pillarbox queue release --restored --project ${projectId}`
    const text = `Email ${id} is held since the database was brought back from a copy or lost its log.`
    return new AppError('CONFLICT', text, { suggestion })
  }
  if (projectHold !== null) {
    const suggestion = `To send it, enable the project: pillarbox project update ${projectId} --enable`
    const text = `Email ${id} is held: its project was disabled for its reputation.`
    return new AppError('CONFLICT', text, { suggestion })
  }
  if (campaignId === null) {
    return new AppError('CONFLICT', `Email ${id} is being released and is due within a minute.`)
  }
  if (pace !== null) {
    const suggestion = `To send it earlier, raise maxPerHour: PUT /campaigns/${campaignId}`
    return new AppError('CONFLICT', `Email ${id} waits for the pace of its campaign.`, {
      suggestion,
    })
  }
  const steps = [
    ...(isSenderVerified ? [] : ['verify its sender domain']),
    ...(isCampaignPaused ? [`resume the campaign: POST /campaigns/${campaignId}/resume`] : []),
  ]
  const suggestion =
    steps.length === 0 ? {} : { suggestion: `To send it, ${steps.join(', then ')}` }
  return new AppError('CONFLICT', `Email ${id} is paused by its campaign.`, suggestion)
}

/**
 * @throws AppError RESOURCE_NOT_FOUND, CONFLICT (no longer waiting); after an error no email is
 *   changed
 */
export async function cancelEmails(
  { store, now, ...core }: Pick<Base, 'store' | 'counters' | 'now' | 'log'>,
  ids: readonly string[],
): Promise<void> {
  await store.write(async (tx) => {
    for (const id of ids) {
      const email = await loadEmail(tx, id)
      if (!['queued', 'deferred', 'held', 'paused'].includes(email.state)) {
        throw new AppError('CONFLICT', `Email ${id} is ${email.state}: it cannot be cancelled.`)
      }
      const end = { state: 'failed', error: 'cancelled', reason: 'cancelled' } as const
      await endEmails(core, tx, { endings: [{ email, end }], at: now() })
    }
  })
}

async function loadEmail(tx: Tx, id: string): Promise<Email> {
  const email = await tx.select().from(emails).where(eq(emails.id, id)).get()
  if (email === undefined) throw emailNotFound(id)
  return email
}
