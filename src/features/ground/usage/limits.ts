/**
 * The limits of emails that apply to a project in a month:
 *
 *   own       limits that the project has set, each for one category
 *   shared    with Stripe configured, all projects of an owner without a subscription share
 *             `billing.free_emails`, for all categories together. The own limits of the project apply
 *             as well, and do not lift the shared one
 *
 * Received mail counts for both kinds of limits, and is never refused.
 */
import type { UsageCategory } from '../../../store/schema/words.ts'
import type { Base } from '../base.ts'
import { CATEGORIES } from './categories.ts'
import type { MonthUse } from './counters.ts'

/** A limit of emails in a month, and what is used of it. */
export type UsageLimit = { name: UsageCategory | 'shared'; limit: number; used: number }

type Deps = Pick<Base, 'config'>

/** The limits that apply to one category. The shared limit comes last. */
export function limitsFor(deps: Deps, use: MonthUse, category: UsageCategory): UsageLimit[] {
  const limit = use.limits[category]
  const own = limit === null ? [] : [{ name: category, limit, used: use.used[category] }]
  return [...own, ...sharedLimit(deps, use)]
}

/** The limits of all categories. */
export function allLimits(deps: Deps, use: MonthUse): UsageLimit[] {
  const own = CATEGORIES.flatMap((name) => {
    const limit = use.limits[name]
    return limit === null ? [] : [{ name, limit, used: use.used[name] }]
  })
  return [...own, ...sharedLimit(deps, use)]
}

/** Returns how many more emails the limits allow. */
export function leftOf(limits: readonly UsageLimit[]): number {
  const left = limits.map(({ limit, used }) => Math.max(0, limit - used))
  return Math.min(Number.POSITIVE_INFINITY, ...left)
}

/** Whether the server limits projects without a subscription. */
export function hasSharedLimit({ config }: Deps): boolean {
  return config.billing !== null
}

function sharedLimit(
  { config }: Deps,
  { used, usedByOthers, isSubscribed }: MonthUse,
): UsageLimit[] {
  if (config.billing === null || isSubscribed) return []
  const total = CATEGORIES.reduce((sum, category) => sum + used[category], usedByOthers)
  return [{ name: 'shared', limit: config.billing.freeEmails, used: total }]
}
