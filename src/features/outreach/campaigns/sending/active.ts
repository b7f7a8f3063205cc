/** Finds the campaigns that are due and those that send, and lets a campaign begin. */
import { isActiveCampaign } from '../../../../store/campaign-terms.ts'
import type { Db } from '../../../../store/database.ts'
import { and, asc, eq, isNull, lte, min, sql } from '../../../../store/drizzle.ts'
import { type Campaign, campaignProgress, campaigns } from '../../../../store/schema/campaigns.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { CampaignKey } from '../campaign.ts'

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

const isSending = and(eq(campaigns.status, 'SENDING'), isNull(campaigns.pausedAt))

const selectSending = statement((db) =>
  selectActive(db)
    .where(and(isActiveCampaign, isSending))
    .orderBy(asc(campaignProgress.begunAt), asc(campaigns.id)),
)

const selectSendingById = statement((db) =>
  selectActive(db).where(and(eq(campaigns.id, parameter('id')), isSending)),
)

const selectDue = statement((db) =>
  db
    .select({ id: campaigns.id, projectId: campaigns.projectId })
    .from(campaigns)
    .where(isDue(parameter('at')))
    .orderBy(asc(campaigns.scheduledFor), asc(campaigns.id)),
)

const selectNextDue = statement((db) =>
  db
    .select({ at: min(campaigns.scheduledFor) })
    .from(campaigns)
    .where(and(isActiveCampaign, eq(campaigns.status, 'SCHEDULED'), isNull(campaigns.pausedAt))),
)

/** The campaigns that send and are not paused, oldest first. */
export function listSending(queries: Pick<Tx, 'list'>): Promise<ActiveCampaign[]> {
  return queries.list(selectSending)
}

/** Finds a campaign that sends; undefined if it is paused, cancelled, at its end or gone. */
export function findSendingCampaign(tx: Tx, id: string): Promise<ActiveCampaign | undefined> {
  return tx.find(selectSendingById, { id })
}

/**
 * Lists the scheduled campaigns whose time has come, including those whose time came while the
 * server was down.
 */
export function listDueCampaigns({
  store,
  now,
}: Pick<Base, 'store' | 'now'>): Promise<CampaignKey[]> {
  return store.read.list(selectDue, { at: now() })
}

/** Returns when the next scheduled campaign that is not paused is due (epoch ms); null without any. */
export async function findNextDueCampaign({ store }: Pick<Base, 'store'>): Promise<number | null> {
  return (await store.read.find(selectNextDue))?.at ?? null
}

/**
 * Starts a due campaign, unless another call was faster. Whether the campaign can be sent is found
 * out by its expansion, later.
 */
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

/**
 * Lets a campaign begin: its status changes and it gets a row of progress. Only contacts that exist now get the
 * campaign. The caller has checked the status in `tx`, and wakes the sending after the commit.
 */
export async function beginSending(
  tx: Tx,
  { id, projectId }: Pick<Campaign, 'id' | 'projectId'>,
  at: number,
): Promise<void> {
  await tx.update(campaigns).set({ status: 'SENDING', updatedAt: at }).where(eq(campaigns.id, id))
  const lastNumber = await findLastNumber(tx)
  await tx.insert(campaignProgress).values({ campaignId: id, projectId, begunAt: at, lastNumber })
}

function isDue(at: number | ReturnType<typeof parameter>) {
  return and(
    isActiveCampaign,
    eq(campaigns.status, 'SCHEDULED'),
    isNull(campaigns.pausedAt),
    lte(campaigns.scheduledFor, at),
  )
}

function selectActive(db: Pick<Db, 'select'>) {
  return db
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

/**
 * Returns the highest number of any contact. A number is never given twice, so later contacts have
 * higher numbers.
 */
async function findLastNumber(tx: Tx): Promise<number> {
  const row = await tx.get<{ last: number | null }>(sql`select max(number) as last from contacts`)
  return row.last ?? 0
}
