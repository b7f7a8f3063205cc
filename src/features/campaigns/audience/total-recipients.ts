/**
 * Keeps the number of recipients in the record of a campaign. A request waits for the count for a
 * moment only; a count that takes longer, or was cut off, is in the record a little later.
 */
import { setTimeout } from 'node:timers/promises'
import { isUncounted } from '../../../store/campaign-terms.ts'
import { and, eq } from '../../../store/drizzle.ts'
import { type Campaign, campaigns } from '../../../store/schema/campaigns.ts'
import type { Base } from '../../base.ts'
import { type CampaignKey, findCampaign } from '../find.ts'
import { countRecipients } from './count.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>

const PATIENCE_MS = 2_000

/** Counts a new or changed audience, and waits up to two seconds for the result. */
export async function countSoon(
  deps: Deps,
  campaign: Pick<Campaign, 'id' | 'projectId' | 'totalRecipients'>,
): Promise<void> {
  if (campaign.totalRecipients !== null) return
  const waiting = new AbortController()
  const counted = countLogged(deps, campaign).finally(() => waiting.abort())
  const patience = setTimeout(PATIENCE_MS, undefined, { signal: waiting.signal, ref: false })
  await Promise.race([counted, patience.catch(() => undefined)])
}

/** Counts the audiences that no request has counted. @throws the signal's reason when it aborts */
export async function countUncounted(deps: Deps, signal: AbortSignal): Promise<void> {
  const uncounted = await deps.store.scan
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(isUncounted)
  for (const key of uncounted) {
    signal.throwIfAborted()
    await countLogged(deps, key)
  }
}

/** A failure is logged; the count is tried again within a minute. */
async function countLogged(deps: Deps, key: CampaignKey): Promise<void> {
  try {
    await deps.sharedRuns.take(`recipients of ${key.id}`, () => count(deps, key))
  } catch (error) {
    deps.log.warn(
      { error, campaignId: key.id },
      'the recipients of a campaign could not be counted',
    )
  }
}

/** An audience that was changed meanwhile stays uncounted. */
async function count(deps: Deps, key: CampaignKey): Promise<void> {
  const campaign = await findCampaign(deps.store.read, key)
  if (campaign === undefined || campaign.totalRecipients !== null) return
  const totalRecipients = await countRecipients(deps, campaign)
  await deps.store.write((tx) =>
    tx
      .update(campaigns)
      .set({ totalRecipients })
      .where(and(eq(campaigns.id, key.id), eq(campaigns.version, campaign.version), isUncounted)),
  )
}
