/**
 * The brake: it pauses a campaign whose mail is refused or complained about, before the reputation
 * of the sender suffers. After a resume the brake counts anew, and its limits double with each time
 * that it has paused the campaign.
 */
import type { Config } from '../../../../config/config.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { and, eq, inArray, isNull, sql } from '../../../../store/drizzle.ts'
import {
  type CampaignProgress,
  campaignProgress,
  campaigns,
} from '../../../../store/schema/campaigns.ts'
import { onShelves } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { pauseInTx, type StopDeps } from '../stopping.ts'

export type BrakeDeps = StopDeps & Pick<Base, 'config'>

/** Counts since the campaign began or was resumed. */
type BrakeFigures = {
  /** Emails that were handed over, refused for good, or refused for reputation or content. */
  outcomes: number
  hardBounces: number
  refusals: number
  complaints: number
  authenticationRefusals: number
}

type Breach = { exceeded: keyof BrakeFigures; limit: number; percent: number | null }

const findComplaints = statement<{ complaints: number }>(
  () => sql`select count(*) as complaints from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')} and ${onShelves('complained')}
      and sent_at >= ${parameter('resumedAt')}`,
)

const MIN_COMPLAINTS = 5
const MAX_AUTHENTICATION_REFUSALS = 10

/** Pauses the campaigns whose figures exceed a limit. */
export async function brakeCampaigns(
  deps: BrakeDeps,
  tx: Tx,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return
  const sending = await tx
    .select({
      campaign: { id: campaigns.id, projectId: campaigns.projectId, name: campaigns.name },
      progress: campaignProgress,
    })
    .from(campaigns)
    .innerJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
    .where(
      and(
        inArray(campaigns.id, [...ids]),
        eq(campaigns.status, 'SENDING'),
        isNull(campaigns.pausedAt),
      ),
    )
  for (const { campaign, progress } of sending) {
    const judge = (figures: BrakeFigures) =>
      findBreach(deps.config, figures, 2 ** progress.brakeCount)
    let figures = countSinceResume(progress)
    let breach = judge(figures)
    if (breach?.exceeded === 'complaints' && progress.resumedAt !== null) {
      figures = { ...figures, complaints: await countComplaints(tx, progress) }
      breach = judge(figures)
    }
    if (breach === undefined) continue
    await pauseInTx(deps, tx, campaign, { reason: 'brake', details: { ...breach, ...figures } })
    await tx
      .update(campaignProgress)
      .set({ brakeCount: progress.brakeCount + 1 })
      .where(eq(campaignProgress.campaignId, campaign.id))
  }
}

/**
 * Counts complaints about mail that was sent since the campaign was resumed. A late complaint about
 * earlier mail says nothing new.
 */
async function countComplaints(tx: Tx, progress: CampaignProgress): Promise<number> {
  const { campaignId, resumedAt } = progress
  const row = await tx.find(findComplaints, { campaignId, resumedAt })
  return row?.complaints ?? 0
}

function countSinceResume(progress: CampaignProgress): BrakeFigures {
  const base = progress.brakeBase ?? {}
  const since = (count: number, name: string) => Math.max(0, count - (base[name] ?? 0))
  const refusals = since(progress.refusalCount, 'refusals')
  return {
    // Temporary refusals are not among the sent emails, so there may be more refusals than sent
    // emails.
    outcomes: Math.max(since(progress.sentCount, 'sent'), refusals),
    hardBounces: since(progress.hardBounceCount, 'hardBounces'),
    refusals,
    complaints: since(progress.complainedCount, 'complaints'),
    authenticationRefusals: since(progress.authenticationRefusalCount, 'authenticationRefusals'),
  }
}

/** Returns the first limit that the figures exceed. `factor` multiplies all limits. */
export function findBreach(
  { campaigns: limits }: Pick<Config, 'campaigns'>,
  figures: BrakeFigures,
  factor: number,
): Breach | undefined {
  const { authenticationRefusals, outcomes, complaints } = figures
  const most = MAX_AUTHENTICATION_REFUSALS * factor
  if (authenticationRefusals >= most) {
    return { exceeded: 'authenticationRefusals', limit: most, percent: null }
  }
  if (outcomes < limits.brakeMinimum) return undefined
  const percents = [
    ['hardBounces', limits.brakeHardBounces],
    ['refusals', limits.brakeRefusals],
    ['complaints', complaints < MIN_COMPLAINTS ? 0 : limits.brakeComplaints],
  ] as const
  for (const [exceeded, percentLimit] of percents) {
    const limit = percentLimit * factor
    const percent = (100 * figures[exceeded]) / Math.max(1, outcomes)
    if (limit > 0 && percent > limit) return { exceeded, limit, percent: round(percent) }
  }
  return undefined
}

function round(percent: number): number {
  return Math.round(percent * 100) / 100
}
