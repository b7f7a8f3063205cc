/** The counts of a campaign that its record and its stats share. */
import type { CampaignProgress } from '../../../../store/schema/campaigns.ts'

const COUNTS = [
  'sentCount',
  'deliveredCount',
  'openedCount',
  'clickedCount',
  'bouncedCount',
  'complainedCount',
  'unsubscribedCount',
] as const

export type CampaignCounts = Record<(typeof COUNTS)[number], number>

/** `progress`: null until the campaign begins to send. */
export function countsOf(progress: CampaignProgress | null): CampaignCounts {
  const counts = COUNTS.map((name) => [name, progress?.[name] ?? 0])
  return Object.fromEntries(counts) as CampaignCounts
}
