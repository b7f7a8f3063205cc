/**
 * Makes the failed emails of a campaign due again, except those that were cancelled, whose contact
 * has unsubscribed, or whose content was cleared. Retried emails count for the limits of their
 * project again, in the month in which they were accepted; an email over a limit stays failed. A
 * campaign that was sent keeps its status.
 */
import { AppError } from '../../../base/errors.ts'
import { CAMPAIGN_CLASS } from '../../../base/queue-class.ts'
import { indexedBy, listOf, rowNumber } from '../../../store/dialect.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { waitingState } from '../../../store/email-terms.ts'
import { campaignProgress } from '../../../store/schema/campaigns.ts'
import { emails } from '../../../store/schema/messages.ts'
import { onShelves, shelfInState } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type SweepPace, sweepRows } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import {
  allowanceOf,
  countAgainOnto,
  findUse,
  refuseAtLimit,
  type UsageDeps,
} from '../../ground/usage/count.ts'
import { monthOf, nextMonthOf } from '../../ground/usage/month.ts'
import { UNSUBSCRIBED } from '../../mail/messages/delivery/prepare.ts'
import { uncountFailed } from '../../mail/messages/outcome/uncount-failed.ts'
import { giveUpAfterMs } from '../../mail/messages/queue/give-up.ts'
import type { QueueNotifier } from '../../mail/messages/queue/notifier.ts'
import { requireSender } from '../../mail/templates/validate.ts'
import { type CampaignKey, type FoundCampaign, loadCampaign, usageCategoryOf } from './campaign.ts'

type Deps = UsageDeps &
  Pick<Base, 'store' | 'campaignNotifier' | 'now'> & { queueNotifier: QueueNotifier }

/**
 * `full`: the latest month in which a limit of the project is used up. `after`: the row number of
 * the last email that was read.
 */
type RetryState = { retried: number; full: number | undefined; after: number }
type FailedEmail = { id: string; number: number; createdAt: number }

const PACE: SweepPace = { first: 50, max: 1_000, batchMs: 8, rest: { times: 2 } }
const FIRST_RETRY_STATE: RetryState = { retried: 0, full: undefined, after: 0 }

/**
 * A page of emails to retry, in the order of their rows. That is the order in which they were
 * accepted, unless the clock went back.
 */
const listFailed = statement<FailedEmail>(
  () => sql`select emails.id, emails.${rowNumber()} as number, emails.created_at as "createdAt"
    from emails ${indexedBy('emails_campaign_shelf')}
    join contents on contents.id = content_id
    join contacts on contacts.id = emails.contact_id
    where campaign_id = ${parameter('campaignId')}
      and ${onShelves('failed')}
      and state = 'failed' and variables is not null and contents.body is not null
      and coalesce(error, '') not in ('cancelled', ${UNSUBSCRIBED})
      and (content_class = 'TRANSACTIONAL' or contacts.subscribed)
      and emails.${rowNumber()} > ${parameter('after')}
      and emails.created_at >= ${parameter('since')}
    order by emails.${rowNumber()} limit ${parameter('limit')}`,
)

const makeDue = statement((db) =>
  db
    .update(emails)
    .set({
      state: waitingState,
      shelf: shelfInState(waitingState),
      status: 'PENDING',
      failureCount: 0,
      error: null,
      dueAt: parameter('at'),
      giveUpAt: parameter('giveUpAt'),
      updatedAt: parameter('at'),
    })
    .where(sql`${emails.id} in ${listOf(parameter('ids'))} and ${emails.state} = 'failed'`)
    .returning({ id: emails.id }),
)

/**
 * Returns how many emails are due again.
 * @throws AppError CAMPAIGN_NOT_FOUND; BAD_REQUEST (neither being sent nor sent); FORBIDDEN (it was
 *   sent, and its sender domain is not verified any more); BILLING_LIMIT_EXCEEDED (a limit of the
 *   project leaves room for none of them)
 */
export async function retryFailed(deps: Deps, key: CampaignKey): Promise<number> {
  const { queueNotifier, campaignNotifier } = deps
  await loadRetryable(deps.store.read, key)
  const { retried, full } = await sweepRows(
    deps,
    { pace: PACE, heavyFor: key.projectId },
    { from: FIRST_RETRY_STATE, find: createFinder(deps, key.id), change: retryBatch },
  )
  if (retried === 0 && full !== undefined) await refuseRetry(deps, key, full)
  if (retried > 0) {
    queueNotifier.notify('anywhere')
    // Retried emails of a paused campaign wait with its other mail; those of a paced campaign wait
    // for their slots.
    campaignNotifier.notify()
  }
  return retried

  async function retryBatch(
    tx: Tx,
    failed: readonly FailedEmail[],
    state: RetryState,
  ): Promise<RetryState> {
    const some = await retrySome(deps, tx, { key, failed })
    const after = failed.at(-1)?.number ?? state.after
    return { retried: state.retried + some.retried, full: some.full ?? state.full, after }
  }
}

/** Finds failed emails page by page, and skips months in which a limit is used up. */
function createFinder({ store }: Deps, campaignId: string) {
  let isLast = false
  return async (limit: number, { full, after }: RetryState): Promise<FailedEmail[]> => {
    if (isLast) return []
    const since = full === undefined ? 0 : nextMonthOf(full)
    const failed = await store.scan.list(listFailed, { campaignId, after, since, limit })
    isLast = failed.length < limit
    return failed
  }
}

/**
 * Retries emails, month by month. `full`: the latest of these months in which a limit is used up.
 */
async function retrySome(
  deps: Deps,
  tx: Tx,
  { key, failed }: { key: CampaignKey; failed: readonly FailedEmail[] },
): Promise<{ retried: number; full: number | undefined }> {
  const campaign = await loadRetryable(tx, key)
  let retried = 0
  let full: number | undefined
  for (const [startsAt, ofMonth] of byMonth(failed)) {
    const due = await retryMonth(deps, tx, { campaign, startsAt, failed: ofMonth })
    retried += due.retried
    if (due.isFull) full = startsAt
  }
  if (retried > 0 && campaign.status === 'SENDING' && campaign.maxPerHour !== null) {
    // `hasOldSlots` gives new slots to all emails that were not tried yet, so that they go out at
    // the pace of the campaign.
    const isOwn = eq(campaignProgress.campaignId, key.id)
    await tx.update(campaignProgress).set({ hasOldSlots: true }).where(isOwn)
  }
  return { retried, full }
}

type MonthOfFailed = { campaign: FoundCampaign; startsAt: number; failed: readonly FailedEmail[] }

/** Retries as many emails of a month as the limits of the project leave room for. */
async function retryMonth(
  deps: Deps,
  tx: Tx,
  { campaign, startsAt, failed }: MonthOfFailed,
): Promise<{ retried: number; isFull: boolean }> {
  const category = usageCategoryOf(campaign)
  const use = await findUse(deps, tx, { projectId: campaign.projectId, at: startsAt })
  if (use === undefined) return { retried: 0, isFull: true }
  const allowed = failed.slice(0, allowanceOf(deps, use, category))
  const isFull = allowed.length < failed.length
  if (allowed.length === 0) return { retried: 0, isFull }
  const at = deps.now()
  const giveUpAt = at + giveUpAfterMs(deps.config, CAMPAIGN_CLASS)
  const ids = await tx.list(makeDue, {
    ids: JSON.stringify(allowed.map(({ id }) => id)),
    at,
    giveUpAt,
  })
  const retried = ids.length
  await uncountFailed(
    tx,
    ids.map(({ id }) => id),
  )
  await countAgainOnto(deps, tx, { use, category, count: retried, at })
  return { retried, isFull }
}

function byMonth(rows: readonly FailedEmail[]) {
  return Map.groupBy(rows, ({ createdAt }) => monthOf(createdAt))
}

/**
 * Refuses the retry.
 * @throws AppError BILLING_LIMIT_EXCEEDED unless the limits of the month leave room by now
 */
async function refuseRetry(deps: Deps, key: CampaignKey, startsAt: number): Promise<void> {
  const campaign = await loadCampaign(deps.store.read, key)
  const { projectId } = key
  const asked = { projectId, category: usageCategoryOf(campaign), at: startsAt }
  await refuseAtLimit(deps, deps.store.read, asked)
}

async function loadRetryable(
  queries: Pick<Tx, 'select' | 'find'>,
  key: CampaignKey,
): Promise<FoundCampaign> {
  const campaign = await loadCampaign(queries, key)
  const { status, fromDomain } = campaign
  if (status === 'SENT') await requireSender(queries, key.projectId, { domain: fromDomain })
  if (status === 'SENDING' || status === 'SENT') return campaign
  if (status === 'CANCELLED') {
    const text = 'The campaign was cancelled, so its failed mail cannot be retried.'
    throw new AppError('BAD_REQUEST', text)
  }
  throw new AppError('BAD_REQUEST', `A campaign that is ${status} has no failed mail to retry.`)
}
