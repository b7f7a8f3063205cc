/** The categories in which the emails of a project are counted and limited. */
import type { Project } from '../../../store/schema/accounts.ts'
import type { SourceType, UsageCategory } from '../../../store/schema/words.ts'

export const CATEGORIES: readonly UsageCategory[] = [
  'transactional',
  'campaigns',
  'workflows',
  'inbound',
]

export type CategoryNumbers = Record<UsageCategory, number>
export type UsageLimits = Record<UsageCategory, number | null>

const CATEGORY_OF = {
  TRANSACTIONAL: 'transactional',
  CAMPAIGN: 'campaigns',
  WORKFLOW: 'workflows',
  INBOUND: 'inbound',
} as const satisfies Record<SourceType, UsageCategory>

export function categoryOf(source: SourceType): UsageCategory {
  return CATEGORY_OF[source]
}

/** The columns of a project with its limits; null means no limit. */
export const LIMIT_COLUMNS = {
  transactional: 'limitTransactional',
  campaigns: 'limitCampaigns',
  workflows: 'limitWorkflows',
  inbound: 'limitInbound',
} as const satisfies Record<UsageCategory, keyof Project>
