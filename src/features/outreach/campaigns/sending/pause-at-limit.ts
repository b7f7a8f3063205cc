/** Pauses a campaign whose project has used up a limit of its emails in a month. */
import type { Base } from '../../../ground/base.ts'
import { findUsageAllowance } from '../../../ground/usage/count.ts'
import { loadCampaign } from '../find.ts'
import { pauseInTx, type StopDeps } from '../pause.ts'
import { usageCategoryOf } from '../usage-category.ts'
import { type ActiveCampaign, findSending } from './active.ts'

type Deps = StopDeps & Pick<Base, 'store' | 'config'>

/** The limit may have been raised by now: then the campaign goes on. */
export async function pauseAtLimit(deps: Deps, { id, projectId }: ActiveCampaign): Promise<void> {
  await deps.store.write(async (tx) => {
    const active = await findSending(tx, id)
    if (active === undefined || active.expandedAt !== null) return
    const asked = { projectId, category: usageCategoryOf(active), at: deps.now() }
    if ((await findUsageAllowance(deps, tx, asked)) > 0) return
    const campaign = await loadCampaign(tx, { id, projectId })
    await pauseInTx(deps, tx, campaign, { reason: 'billing_limit' })
  })
}
