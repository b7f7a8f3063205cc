/**
 * Keeps the figures of campaigns. A handler of events counts the emails that events name: the bits
 * of `emails.figures` say as what an email was counted, the view `campaign_figures` as what it counts
 * now, and the differences go to `campaign_progress` in the transaction that saves the cursor. So no
 * email is counted twice, in whatever order its events come, and a server that was killed goes on
 * where it stopped. Delivery does not know of campaigns.
 */
import { listOf } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import type { CountedEvent } from '../../../../store/schema/analytics.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { LazyHandler } from '../../../ground/event-handlers.ts'
import { MAIL_EVENTS } from '../../../ground/events/mail-events.ts'
import { COUNTED_OTHERWISE } from '../../../people/contacts/write/set-subscribed.ts'
import { type BrakeDeps, brakeCampaigns } from '../brake/brake.ts'
import { countClicks } from './count-clicks.ts'
import { UNSUBSCRIBED_MARK } from './marks.ts'

/** After any of these, an email of a campaign may count as something else. */
const OUTCOMES: ReadonlySet<string> = new Set([...MAIL_EVENTS, 'contact.unsubscribed'])

/** `detail`: the reason of an unsubscription. */
type OutcomeEvent = Pick<CountedEvent, 'seq' | 'name' | 'emailId' | 'detail'>

const FIGURES = [
  'sent',
  'delivered',
  'opened',
  'clicked',
  'bounced',
  'complained',
  'unsubscribed',
  'suppressed',
  'failed',
  'failed_unsubscribed',
] as const

const additions = FIGURES.map((name) => `${name}_count = ${name}_count + change.${name}`)
const sums = FIGURES.map((name) => `sum(${name}) as ${name}`)

const addChanges = statement<{ campaignId: string }>(
  () => sql`update campaign_progress set ${sql.raw(additions.join(', '))}
    from (
      select campaign_id, ${sql.raw(sums.join(', '))} from campaign_figures
      where id in ${listOf(parameter('ids'))} and bits <> figures group by campaign_id
    ) as change
    where campaign_progress.campaign_id = change.campaign_id
    returning campaign_progress.campaign_id as "campaignId"`,
)

const markCounted = statement(
  () => sql`update emails set figures = counted.bits from campaign_figures as counted
    where emails.id in ${listOf(parameter('ids'))} and counted.id = emails.id
      and counted.bits <> counted.figures`,
)

const markUnsubscribed = statement(
  () => sql`update emails set figures = figures | ${UNSUBSCRIBED_MARK}
    where id in ${listOf(parameter('ids'))} and campaign_id is not null`,
)

const findCampaign = statement<{ found: number }>(
  () => sql`select 1 as found from campaign_progress limit 1`,
)

/** For `mayMatter` of handlers: whether a campaign has begun, before which there is no mail of it. */
export async function hasCampaigns(read: Pick<Tx, 'find'>): Promise<boolean> {
  return (await read.find(findCampaign)) !== undefined
}

export function figuresHandler(deps: BrakeDeps): LazyHandler {
  return {
    name: 'campaign-figures',
    mayMatter: hasCampaigns,
    handle: (tx, events) => countOutcomes(deps, tx, events),
  }
}

async function countOutcomes(
  deps: BrakeDeps,
  tx: Tx,
  events: readonly OutcomeEvent[],
): Promise<void> {
  const outcomes = events.filter(({ name, emailId }) => emailId !== null && OUTCOMES.has(name))
  if (outcomes.length === 0) return
  const unsubscribed = outcomes.filter(isUnsubscription)
  if (unsubscribed.length > 0) await tx.execute(markUnsubscribed, { ids: idsOf(unsubscribed) })
  const ids = idsOf(outcomes)
  const changed = await tx.list(addChanges, { ids })
  if (changed.length > 0) await tx.execute(markCounted, { ids })
  await countClicks(tx, outcomes)
  await brakeCampaigns(
    deps,
    tx,
    changed.map(({ campaignId }) => campaignId),
  )
}

function isUnsubscription({ name, detail }: OutcomeEvent): boolean {
  return name === 'contact.unsubscribed' && !COUNTED_OTHERWISE.has(detail)
}

function idsOf(events: readonly OutcomeEvent[]): string {
  return JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
}
