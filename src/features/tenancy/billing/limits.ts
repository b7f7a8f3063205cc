/**
 * Shows and sets the monthly limits of a project, with the present use. Each category shows the
 * limit that the project is nearest to: its own, or the shared one of projects without a
 * subscription.
 */
import { AppError } from '../../../base/errors.ts'
import type { BillingLimits, LimitUse } from '../../../records/billing.ts'
import { eq } from '../../../store/drizzle.ts'
import { projects } from '../../../store/schema/accounts.ts'
import type { UsageCategory } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import type { UsageLimits } from '../../ground/usage/categories.ts'
import { findUse } from '../../ground/usage/count.ts'
import type { MonthUse } from '../../ground/usage/counters.ts'
import { leftOf, limitsFor, type UsageLimit } from '../../ground/usage/limits.ts'
import { announceReached, reaches } from '../../ground/usage/notices.ts'
import { type Actor, noProject, requireAdmin } from '../accounts/members/require-admin.ts'

type ShowDeps = Pick<Base, 'store' | 'config' | 'now'>
type SetDeps = ShowDeps & Pick<Base, 'directory' | 'reportUsage'>

/** Shows the limits and the use of a project. @throws AppError RESOURCE_NOT_FOUND */
export function showLimits(deps: ShowDeps, projectId: string): Promise<BillingLimits> {
  return readView(deps, deps.store.read, projectId)
}

/**
 * Sets all four limits. They hold at once, even if the project has used more already. With Stripe,
 * only a project with a subscription has limits of its own; any other has the shared limit.
 * @throws AppError RESOURCE_NOT_FOUND, FORBIDDEN, BAD_REQUEST (no subscription)
 */
export function setLimits(
  deps: SetDeps,
  actor: Actor,
  limits: UsageLimits,
): Promise<BillingLimits> {
  const { projectId } = actor
  const at = deps.now()
  return deps.store.write(async (tx) => {
    await requireAdmin(tx, actor)
    const use = await findUse(deps, tx, { projectId, at })
    if (deps.config.billing !== null && use?.isSubscribed === false) throw noSubscription()
    tx.afterCommit(deps.directory.drop)
    const { transactional, campaigns, workflows, inbound } = limits
    await tx
      .update(projects)
      .set({
        limitTransactional: transactional,
        limitCampaigns: campaigns,
        limitWorkflows: workflows,
        limitInbound: inbound,
        updatedAt: at,
      })
      .where(eq(projects.id, projectId))
    await announceReached(deps, tx, { projectId, at })
    return readView(deps, tx, projectId)
  })
}

async function readView(
  deps: Pick<Base, 'config' | 'now'>,
  reader: Pick<Tx, 'find'>,
  projectId: string,
): Promise<BillingLimits> {
  const use = await findUse(deps, reader, { projectId, at: deps.now() })
  if (use === undefined) throw noProject(projectId)
  const show = (category: UsageCategory) => toView(nearest(deps, use, category))
  return {
    workflows: show('workflows'),
    campaigns: show('campaigns'),
    transactional: show('transactional'),
    inbound: show('inbound'),
    currency: use.currency,
  }
}

function nearest(
  deps: Pick<Base, 'config'>,
  use: MonthUse,
  category: UsageCategory,
): UsageLimit | { used: number } {
  const limits = limitsFor(deps, use, category).sort((a, b) => leftOf([a]) - leftOf([b]))
  return limits[0] ?? { used: use.used[category] }
}

function toView(nearest: UsageLimit | { used: number }): LimitUse {
  const { used: usage } = nearest
  if (!('limit' in nearest)) {
    return { limit: null, usage, percentage: 0, isWarning: false, isBlocked: false }
  }
  return {
    limit: nearest.limit,
    usage,
    percentage: percentageOf(nearest),
    isWarning: reaches(nearest, 80),
    isBlocked: reaches(nearest, 100),
  }
}

/**
 * Returns the used percentage, rounded down, so that 100 is not shown before the limit is reached.
 */
function percentageOf({ limit, used }: UsageLimit): number {
  return limit === 0 ? 100 : Math.floor((used * 1_000) / limit) / 10
}

function noSubscription(): AppError {
  return new AppError('BAD_REQUEST', 'The project has no subscription, so its limit is fixed.', {
    suggestion: 'Subscribe first: POST /users/@me/projects/:id/checkout',
  })
}
