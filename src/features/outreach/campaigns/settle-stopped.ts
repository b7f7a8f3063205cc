/**
 * Brings the mail of campaigns in line with their state, in short transactions behind the answers:
 * mail of paused campaigns is put aside, that of resumed ones is due again, that of cancelled ones
 * ends. A campaign whose project was disabled or that lost its sender domain is paused. The work
 * that is left is found in the database, so a server that was killed goes on where it stopped.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { isActiveCampaign } from '../../../store/campaign-terms.ts'
import type { RowOf } from '../../../store/database.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { campaignProgress } from '../../../store/schema/campaigns.ts'
import type { PauseReason } from '../../../store/schema/words.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { type Loop, startLoop } from '../../../work/loop.ts'
import { settleInPasses } from '../../../work/settle.ts'
import { type SweepPace, type SweepRules, sweep, sweepRows } from '../../../work/sweep.ts'
import type { Base } from '../../ground/base.ts'
import { endEmails } from '../../mail/messages/outcome/end-emails.ts'
import { notifyReleased } from '../../mail/messages/queue/aside.ts'
import { pauseInTx, type StopDeps } from './stopping.ts'
import {
  listCancelled,
  listUnsettledCampaigns,
  listUntried,
  pauseUntried,
  pauseWaiting,
  releasePaused,
} from './waiting-rows.ts'

type SettleDeps = StopDeps & Pick<Base, 'store' | 'counters' | 'log'>
type Unsettled = RowOf<typeof listUnsettledCampaigns>
type CampaignBatch = { campaignId: string; limit: number }
/** `areLeft`: whether the last batch moved an email, so that there may be more. */
type Untried = { moved: number; areLeft: boolean }

const PACE: SweepPace = { first: 50, max: 1_000, batchMs: 8, rest: { times: 2 } }
/** After this time it is another campaign's turn. */
const BATCH_MS = 500

/** Campaigns being sent that may not go on. */
const listTroubled = statement<{
  id: string
  projectId: string
  name: string
  reason: PauseReason
}>(
  () => sql`select campaigns.id, project_id as "projectId", campaigns.name,
      case when is_disabled then 'project_disabled' else 'domain_unverified' end as reason
    from campaigns join projects on projects.id = project_id
    where ${isActiveCampaign} and status = 'SENDING' and paused_at is null and (is_disabled or not exists (
      select 1 from domains where domains.project_id = campaigns.project_id
        and domain = from_domain and is_verified))`,
)

/**
 * Starts the loop: it settles at the start, when a campaign or the directory changes, and each
 * minute.
 */
export function startSettling(deps: SettleDeps): Loop {
  return startLoop({
    run: ({ signal }) => settleStopped(deps, signal),
    onError: (error) =>
      deps.log.error({ error: describeError(error) }, 'the mail of campaigns was not settled'),
    wakes: [deps.campaignNotifier.listen, deps.directory.onDrop],
    maxWaitMs: MINUTE_MS,
  })
}

/** Moves rows until none is left to move: a batch of each campaign in rotation. */
export async function settleStopped(deps: SettleDeps, signal?: AbortSignal): Promise<void> {
  const list = async () => {
    await pauseTroubled(deps)
    return deps.store.scan.list(listUnsettledCampaigns)
  }
  await settleInPasses({ list, move: (unsettled) => settleBatch(deps, unsettled, signal) }, signal)
}

async function pauseTroubled(deps: SettleDeps): Promise<void> {
  for (const { reason, ...campaign } of await deps.store.scan.list(listTroubled)) {
    await deps.store.write((tx) => pauseInTx(deps, tx, campaign, { reason }))
  }
}

/** Moves rows of one campaign for up to `BATCH_MS`. Returns how many it moved. */
async function settleBatch(
  deps: SettleDeps,
  { id: campaignId, projectId, act }: Unsettled,
  signal: AbortSignal | undefined,
): Promise<number> {
  const rules = { pace: PACE, heavyFor: projectId, signal, forMs: BATCH_MS }
  if (act === 'pace') return putAsideUntried(deps, rules, campaignId)
  const move = { pause: putAside, release: makeDue, cancel: endWaiting }[act]
  return sweep(deps, { ...rules, until: 'none' }, (tx, limit) =>
    move(deps, tx, { campaignId, limit }),
  )
}

async function putAside(
  { now }: SettleDeps,
  tx: Tx,
  { campaignId, limit }: CampaignBatch,
): Promise<number> {
  return (await tx.list(pauseWaiting, { campaignId, limit, at: now() })).length
}

/** Puts aside untried emails with old slots. Once none is left, these emails can get new slots. */
async function putAsideUntried(
  deps: SettleDeps,
  rules: SweepRules,
  campaignId: string,
): Promise<number> {
  const { store, now, campaignNotifier } = deps
  let isDone = false
  const { moved } = await sweepRows<string, Untried>(deps, rules, {
    from: { moved: 0, areLeft: true },
    find: async (limit, { areLeft }) => {
      const found = areLeft ? await store.scan.list(listUntried, { campaignId, limit }) : []
      isDone = found.length === 0
      return found.map(({ id }) => id)
    },
    change: async (tx, ids, before) => {
      const values = { campaignId, ids: JSON.stringify(ids), at: now() }
      const { length } = await tx.list(pauseUntried, values)
      return { moved: before.moved + length, areLeft: length > 0 }
    },
  })
  if (!isDone) return moved
  await store.write(async (tx) => {
    await tx
      .update(campaignProgress)
      .set({ hasOldSlots: false })
      .where(eq(campaignProgress.campaignId, campaignId))
    tx.afterCommit(() => campaignNotifier.notify())
  })
  return moved
}

async function makeDue(
  { now, queueNotifier }: SettleDeps,
  tx: Tx,
  work: CampaignBatch,
): Promise<number> {
  const { campaignId, limit } = work
  const released = await tx.list(releasePaused, { campaignId, limit, at: now() })
  tx.afterCommit(() => notifyReleased(queueNotifier, released))
  return released.length
}

async function endWaiting(deps: SettleDeps, tx: Tx, work: CampaignBatch): Promise<number> {
  const { campaignId, limit } = work
  const waiting = await tx.list(listCancelled, { campaignId, limit })
  const end = { state: 'failed', error: 'cancelled', reason: 'cancelled' } as const
  const endings = waiting.map((email) => ({ email, end }))
  return endEmails(deps, tx, { endings, at: deps.now() })
}
