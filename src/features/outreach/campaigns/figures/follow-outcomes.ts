/**
 * Keeps the figures of campaigns. A follower of events counts the emails that events name: the bits
 * of `emails.figures` say as what an email was counted, the view `campaign_figures` as what it counts
 * now, and the differences go to `campaign_progress` in the transaction that saves the cursor. So no
 * email is counted twice, in whatever order its events come, and a server that was killed goes on
 * where it stopped. Delivery does not know of campaigns.
 */
import type { RowOf } from '../../../../store/database.ts'
import { jsonValue, listOf, unseen } from '../../../../store/dialect.ts'
import { asc, gt, sql } from '../../../../store/drizzle.ts'
import { events } from '../../../../store/schema/events.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type Follower, startFollower } from '../../../ground/events/follow.ts'
import { MAIL_EVENTS } from '../../../ground/events/mail-events.ts'
import { COUNTED_OTHERWISE } from '../../../people/contacts/write/set-subscribed.ts'
import { type BrakeDeps, brakeCampaigns } from '../brake/brake.ts'
import { countClicks } from './count-clicks.ts'
import { UNSUBSCRIBED_MARK } from './marks.ts'

export type FiguresDeps = BrakeDeps & Pick<Base, 'store' | 'log'>

/** A transaction of so many takes some milliseconds. */
const BATCH = 500
/** One transaction counts the outcomes of so long a time; figures are at most a second behind. */
const LINGER_MS = 250

/** After any of these, an email of a campaign may count as something else. */
const OUTCOMES: ReadonlySet<string> = new Set([...MAIL_EVENTS, 'contact.unsubscribed'])

/** Without what no figure needs: a whole event takes more than twice as long. */
const ROWS = {
  table: 'events',
  listAfter: statement((db) =>
    db
      .select({
        seq: events.seq,
        name: events.name,
        emailId: events.emailId,
        reason: sql<unknown>`case when ${events.name} = 'contact.unsubscribed'
          then ${jsonValue(events.data, 'reason')} end`,
      })
      .from(events)
      .where(gt(events.seq, parameter('seq')))
      .orderBy(asc(events.seq))
      .limit(unseen(parameter('limit'))),
  ),
} as const

type OutcomeEvent = RowOf<typeof ROWS.listAfter>

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

/** For `mayMatter` of followers: whether a campaign has begun, before which there is no mail of it. */
export async function hasCampaigns(read: Pick<Tx, 'find'>): Promise<boolean> {
  return (await read.find(findCampaign)) !== undefined
}

export function startFigures(deps: FiguresDeps): Follower {
  return startFollower(deps, {
    rows: ROWS,
    name: 'campaign-figures',
    batch: BATCH,
    lingerMs: LINGER_MS,
    mayMatter: hasCampaigns,
    handle: (tx, events) => countOutcomes(deps, tx, events),
  })
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

function isUnsubscription({ name, reason }: OutcomeEvent): boolean {
  return name === 'contact.unsubscribed' && !COUNTED_OTHERWISE.has(reason)
}

function idsOf(events: readonly OutcomeEvent[]): string {
  return JSON.stringify([...new Set(events.map(({ emailId }) => emailId))])
}
