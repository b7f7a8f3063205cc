/**
 * Counts the recipients of a campaign for its record, and the unsubscribed among them for the answer to its sending.
 *
 * A request waits for a count for two seconds at most. If the count takes longer or is cut off, the
 * record gets its result a little later. A failed count is logged, and the request succeeds all the
 * same.
 */
import { isUncounted } from '../../../../store/campaign-terms.ts'
import { and, eq } from '../../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import { type CampaignKey, findCampaign } from '../campaign.ts'
import { countAudience, countRecipients } from './count.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>

/** `of`: names the contacts that are counted, in the name of the run and in the log. */
type AudienceRun<Result> = { of: string; count: (campaign: Campaign) => Promise<Result> }

const PATIENCE_MS = 2_000

/** Counts a new or changed audience, and waits up to two seconds for the result. */
export async function countSoon(
  deps: Deps,
  campaign: Pick<Campaign, 'id' | 'projectId' | 'totalRecipients'>,
): Promise<void> {
  if (campaign.totalRecipients !== null) return
  await withinPatience(countRecorded(deps, campaign))
}

/**
 * Counts the unsubscribed contacts who get a campaign. Resolves with undefined if the count failed, or took more
 * than two seconds; never rejects.
 */
export async function countUnsubscribedSoon(
  deps: Deps,
  { projectId, id, type }: Pick<Campaign, 'projectId' | 'id' | 'type'>,
): Promise<number | undefined> {
  if (type !== 'TRANSACTIONAL') return 0
  const counted = countLogged(
    deps,
    { projectId, id },
    {
      of: 'unsubscribed recipients',
      count: async (campaign) => (await countAudience(deps, campaign)).unsubscribedRecipients,
    },
  )
  return withinPatience(counted)
}

/**
 * Counts the audiences of campaigns whose record has no count yet.
 * @throws the signal's reason when it aborts
 */
export async function countUncounted(deps: Deps, signal: AbortSignal): Promise<void> {
  const uncounted = await deps.store.scan
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(isUncounted)
  for (const key of uncounted) {
    signal.throwIfAborted()
    await countRecorded(deps, key)
  }
}

/**
 * Counts the recipients and writes the number. After a failure, another count follows within a
 * minute.
 */
function countRecorded(deps: Deps, key: CampaignKey): Promise<void> {
  return countLogged(deps, key, {
    of: 'recipients',
    count: (campaign) => record(deps, campaign),
  })
}

/** Writes the count, unless the audience was changed meanwhile. */
async function record(deps: Deps, campaign: Campaign): Promise<void> {
  const { id, version } = campaign
  if (campaign.totalRecipients !== null) return
  const totalRecipients = await countRecipients(deps, campaign)
  await deps.store.write((tx) =>
    tx
      .update(campaigns)
      .set({ totalRecipients })
      .where(and(eq(campaigns.id, id), eq(campaigns.version, version), isUncounted)),
  )
}

/**
 * Resolves with the result of `work`, or with undefined after two seconds, while `work` goes on.
 */
async function withinPatience<Result>(work: Promise<Result>): Promise<Result | undefined> {
  const waiting = Promise.withResolvers<undefined>()
  const patience = setTimeout(waiting.resolve, PATIENCE_MS, undefined).unref()
  try {
    return await Promise.race([work, waiting.promise])
  } finally {
    clearTimeout(patience)
  }
}

/**
 * Runs a count that simultaneous calls share. The run reads the campaign itself, because some calls
 * may have read it before a change, and some after. Resolves with undefined if the campaign is
 * gone, and after a failure, which is logged.
 */
async function countLogged<Result>(
  { store, sharedRuns, log }: Pick<Deps, 'store' | 'sharedRuns' | 'log'>,
  key: CampaignKey,
  { of, count }: AudienceRun<Result>,
): Promise<Result | undefined> {
  try {
    return await sharedRuns.take(`${of} of ${key.id}`, async () => {
      const campaign = await findCampaign(store.read, key)
      return campaign && (await count(campaign))
    })
  } catch (error) {
    log.warn({ error, campaignId: key.id }, `the ${of} of a campaign could not be counted`)
    return undefined
  }
}
