/** The campaigns that have something to do: those that are due, and those that send. */
import { isActive } from '../../../store/campaign-terms.ts'
import { and, asc, eq, isNull, lte, min } from '../../../store/drizzle.ts'
import { type Campaign, campaignProgress, campaigns } from '../../../store/schema/campaigns.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import type { CampaignKey } from '../find.ts'
import { beginSending } from './begin.ts'

export type ActiveCampaign = {
  id: string
  projectId: string
  type: Campaign['type']
  maxPerHour: number | null
  cursor: number
  lastNumber: number
  pacedAt: number
  hasOldSlots: boolean
  expandedAt: number | null
}

/** The campaigns that send and are not paused, oldest first. */
export function listSending(queries: Pick<Tx, 'select'>): Promise<ActiveCampaign[]> {
  return selectActive(queries)
    .where(and(isActive, eq(campaigns.status, 'SENDING'), isNull(campaigns.pausedAt)))
    .orderBy(asc(campaignProgress.begunAt), asc(campaigns.id))
    .all()
}

/** Undefined if the campaign does not send now: it is paused, cancelled, at its end or gone. */
export function findSending(tx: Tx, id: string): Promise<ActiveCampaign | undefined> {
  return selectActive(tx)
    .where(and(eq(campaigns.id, id), eq(campaigns.status, 'SENDING'), isNull(campaigns.pausedAt)))
    .get()
}

/** Campaigns whose time has come, also while the server was down. */
export function listDue({ store, now }: Pick<Base, 'store' | 'now'>): Promise<CampaignKey[]> {
  return store.read
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(isDue(now()))
    .orderBy(asc(campaigns.scheduledFor), asc(campaigns.id))
    .all()
}

/** When the next scheduled campaign that is not paused is due (epoch ms); null without any. */
export async function findNextDue({ store }: Pick<Base, 'store'>): Promise<number | null> {
  const row = await store.read
    .select({ at: min(campaigns.scheduledFor) })
    .from(campaigns)
    .where(and(isActive, eq(campaigns.status, 'SCHEDULED'), isNull(campaigns.pausedAt)))
    .get()
  return row?.at ?? null
}

/** Starts a due campaign, unless somebody was faster. Any trouble is found when it expands. */
export async function fire(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: CampaignKey,
): Promise<void> {
  await store.write(async (tx) => {
    const at = now()
    const due = await tx
      .select({ id: campaigns.id })
      .from(campaigns)
      .where(and(eq(campaigns.id, key.id), isDue(at)))
      .get()
    if (due !== undefined) await beginSending(tx, key, at)
  })
}

function isDue(at: number) {
  return and(
    isActive,
    eq(campaigns.status, 'SCHEDULED'),
    isNull(campaigns.pausedAt),
    lte(campaigns.scheduledFor, at),
  )
}

function selectActive(queries: Pick<Tx, 'select'>) {
  return queries
    .select({
      id: campaigns.id,
      projectId: campaigns.projectId,
      type: campaigns.type,
      maxPerHour: campaigns.maxPerHour,
      cursor: campaignProgress.cursor,
      lastNumber: campaignProgress.lastNumber,
      pacedAt: campaignProgress.pacedAt,
      hasOldSlots: campaignProgress.hasOldSlots,
      expandedAt: campaignProgress.expandedAt,
    })
    .from(campaigns)
    .innerJoin(campaignProgress, eq(campaignProgress.campaignId, campaigns.id))
}
