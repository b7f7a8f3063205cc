/** The usage category of a campaign's emails; a TRANSACTIONAL campaign counts as transactional mail. */
import type { Campaign } from '../../../store/schema/campaigns.ts'
import type { UsageCategory } from '../../../store/schema/words.ts'
import { categoryOf } from '../../ground/usage/categories.ts'

export function usageCategoryOf({ type }: Pick<Campaign, 'type'>): UsageCategory {
  return categoryOf(type === 'TRANSACTIONAL' ? 'TRANSACTIONAL' : 'CAMPAIGN')
}
