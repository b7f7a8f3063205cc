/**
 * Runs a count of an audience, which may take longer than people wait, and may fail without harm to
 * the request.
 */
import type { Campaign } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import { type CampaignKey, findCampaign } from '../find.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'log'>
/** `of`: who is counted, for the name of the run and for the log. */
type AudienceRun<Result> = { of: string; count: (campaign: Campaign) => Promise<Result> }

const PATIENCE_MS = 2_000

/** Resolves with the result, or with undefined after two seconds; the work goes on. */
export async function withinPatience<Result>(work: Promise<Result>): Promise<Result | undefined> {
  const waiting = Promise.withResolvers<undefined>()
  const patience = setTimeout(waiting.resolve, PATIENCE_MS, undefined).unref()
  try {
    return await Promise.race([work, waiting.promise])
  } finally {
    clearTimeout(patience)
  }
}

/**
 * Counts in a run that simultaneous calls share. The run reads the campaign anew, because the calls may have
 * seen it before and after a change. Resolves with undefined if the campaign is gone, and after a failure,
 * which is logged.
 */
export async function countLogged<Result>(
  { store, sharedRuns, log }: Deps,
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
