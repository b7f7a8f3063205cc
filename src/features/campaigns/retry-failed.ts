/**
 * Makes the failed emails of a campaign due again, except those that were cancelled, whose contact
 * has unsubscribed, or whose content was cleared. A campaign that was sent keeps its status.
 */
import { AppError } from '../../errors.ts'
import { createBatchPace } from '../../jobs/pace.ts'
import { CAMPAIGN_CLASS } from '../../queue-class.ts'
import { indexedBy, listOf, rowNumber } from '../../store/dialect.ts'
import { eq, sql } from '../../store/drizzle.ts'
import { isBadEnd, waitingState } from '../../store/email-terms.ts'
import { campaignProgress } from '../../store/schema/campaigns.ts'
import { emails } from '../../store/schema/messages.ts'
import { parameter, statement } from '../../store/statement.ts'
import type { Tx } from '../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { UNSUBSCRIBED } from '../messages/delivery/prepare.ts'
import { giveUpAfterMs } from '../messages/queue/give-up-after.ts'
import type { QueueNotifier } from '../messages/queue/notifier.ts'
import { requireSender } from '../templates/validate.ts'
import { type CampaignKey, type FoundCampaign, loadCampaign } from './find.ts'

type Deps = Pick<Base, 'store' | 'config' | 'campaignNotifier' | 'now'> & {
  queueNotifier: QueueNotifier
}

const FIRST_BATCH = 50
const MAX_BATCH = 1_000
const BATCH_MS = 8

/** A page of emails to retry, by row. */
const listFailed = statement<{ id: string; number: number }>(
  () => sql`select emails.id, emails.${rowNumber()} as number
    from emails ${indexedBy('emails_campaign_ends')}
    join contents on contents.id = content_id
    join contacts on contacts.id = emails.contact_id
    where campaign_id = ${parameter('campaignId')}
      and ${isBadEnd} and status = 'FAILED'
      and state = 'failed' and variables is not null and contents.body is not null
      and coalesce(error, '') not in ('cancelled', ${UNSUBSCRIBED})
      and (content_class = 'TRANSACTIONAL' or contacts.subscribed)
      and emails.${rowNumber()} > ${parameter('after')}
    order by emails.${rowNumber()} limit ${parameter('limit')}`,
)

const makeDue = statement((db) =>
  db
    .update(emails)
    .set({
      state: waitingState,
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
 *   sent, and its sender domain is not verified any more)
 */
export async function retryFailed(deps: Deps, key: CampaignKey): Promise<number> {
  const { store, queueNotifier, campaignNotifier } = deps
  await loadRetryable(store.read, key)
  const pace = createBatchPace({ first: FIRST_BATCH, max: MAX_BATCH, batchMs: BATCH_MS })
  let retried = 0
  for (let after = 0; ; ) {
    const limit = pace.size()
    const failed = await store.scan.list(listFailed, { campaignId: key.id, after, limit })
    const ids = failed.map(({ id }) => id)
    const write = (tx: Tx) => pace.measure(limit, () => retrySome(deps, tx, { key, ids }))
    if (ids.length > 0) {
      retried += await pace.batch(() => store.write(write, { heavyFor: key.projectId }))
    }
    if (failed.length < limit) break
    after = failed.at(-1)?.number ?? after
  }
  if (retried > 0) {
    queueNotifier.notify('anywhere')
    // What a paused campaign retries waits with its other mail, and that of a paced one for its slots.
    campaignNotifier.notify()
  }
  return retried
}

async function retrySome(
  { config, now }: Deps,
  tx: Tx,
  { key, ids }: { key: CampaignKey; ids: readonly string[] },
): Promise<number> {
  const { status, maxPerHour } = await loadRetryable(tx, key)
  if (status === 'SENDING' && maxPerHour !== null) {
    // What was not tried yet goes out at the pace of its campaign.
    const isOwn = eq(campaignProgress.campaignId, key.id)
    await tx.update(campaignProgress).set({ hasOldSlots: true }).where(isOwn)
  }
  const at = now()
  const giveUpAt = at + giveUpAfterMs(config, CAMPAIGN_CLASS)
  return (await tx.list(makeDue, { ids: JSON.stringify(ids), at, giveUpAt })).length
}

async function loadRetryable(
  queries: Pick<Tx, 'select'>,
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
