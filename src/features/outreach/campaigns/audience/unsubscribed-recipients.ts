/**
 * How many unsubscribed contacts get a campaign, for the answer to its sending. The number informs
 * only: a count that fails, or takes longer than people wait, leaves it out and harms no sending.
 */
import type { Campaign } from '../../../../store/schema/campaigns.ts'
import type { Base } from '../../../ground/base.ts'
import { countAudience } from './count.ts'
import { countLogged, withinPatience } from './patience.ts'

type Deps = Pick<Base, 'store' | 'sharedRuns' | 'now' | 'log'>

/** Resolves with undefined if the count failed, or took more than two seconds. Never rejects. */
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
