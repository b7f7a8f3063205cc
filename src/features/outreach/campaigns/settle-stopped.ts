/**
 * Brings the mail of campaigns in line with their state, in short transactions behind the answers:
 * mail of paused campaigns is put aside, that of resumed ones is due again, that of cancelled ones
 * ends. A campaign whose project was disabled or that lost its sender domain is paused. All of it is
 * found in the database, so a server that was killed goes on where it stopped.
 */
import { MINUTE_MS } from '../../../base/clock.ts'
import { describeError } from '../../../base/errors.ts'
import { isActive } from '../../../store/campaign-terms.ts'
import type { RowOf } from '../../../store/database.ts'
import { eq, sql } from '../../../store/drizzle.ts'
import { campaignProgress } from '../../../store/schema/campaigns.ts'
import type { PauseReason } from '../../../store/schema/words.ts'
import { statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { createBatchPace } from '../../../work/jobs/pace.ts'
import { type Loop, startLoop } from '../../../work/loop.ts'
import type { Base } from '../../ground/base.ts'
import { endEmails } from '../../mail/messages/outcome/end-emails.ts'
import { notifyReleased } from '../../mail/messages/queue/aside.ts'
import { pauseInTx, type StopDeps } from './pause.ts'
import {
  listCancelled,
  listUnsettled,
  listUntried,
  pauseUntried,
  pauseWaiting,
  releasePaused,
} from './waiting-rows.ts'

export type SettleDeps = StopDeps & Pick<Base, 'store' | 'counters' | 'log'>
type Unsettled = RowOf<typeof listUnsettled>
/** `untried`: the ids of emails that are to get new slots, as JSON text. */
type Work = { campaignId: string; limit: number; untried: string }

const FIRST_BATCH = 50
const MAX_BATCH = 1_000
const BATCH_MS = 8
/** Then it is another campaign's turn. */
const TURN_MS = 500

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
    where ${isActive} and status = 'SENDING' and paused_at is null and (is_disabled or not exists (
      select 1 from domains where domains.project_id = campaigns.project_id
        and domain = from_domain and is_verified))`,
)

/** Settles at the start, when a campaign or the directory changes, and each minute. */
export function startSettling(deps: SettleDeps): Loop {
  return startLoop({
    run: ({ signal }) => settleStopped(deps, signal),
    onError: (error) =>
      deps.log.error({ error: describeError(error) }, 'the mail of campaigns was not settled'),
    wakes: [deps.campaignNotifier.listen, deps.directory.onDrop],
    maxWaitMs: MINUTE_MS,
  })
}

/** Ends when no row is left that it could move. Campaigns take turns. */
export async function settleStopped(deps: SettleDeps, signal?: AbortSignal): Promise<void> {
  for (let isMoving = true; isMoving && !signal?.aborted; ) {
    isMoving = false
    await pauseTroubled(deps)
    for (const unsettled of await deps.store.scan.list(listUnsettled)) {
      if ((await takeTurn(deps, unsettled, signal)) > 0) isMoving = true
    }
  }
}

async function pauseTroubled(deps: SettleDeps): Promise<void> {
  for (const { reason, ...campaign } of await deps.store.scan.list(listTroubled)) {
    await deps.store.write((tx) => pauseInTx(deps, tx, campaign, { reason }))
  }
}

/** Moves rows of the campaign for a moment. Returns how many. */
async function takeTurn(
  deps: SettleDeps,
  { id: campaignId, projectId, act }: Unsettled,
  signal: AbortSignal | undefined,
): Promise<number> {
  const pace = createBatchPace({ first: FIRST_BATCH, max: MAX_BATCH, batchMs: BATCH_MS })
  const move = { pause: putAside, pace: putAsideUntried, release: makeDue, cancel: endWaiting }[act]
  const endAt = performance.now() + TURN_MS
  let moved = 0
  while (performance.now() < endAt && !signal?.aborted) {
    const limit = pace.size()
    const untried = act === 'pace' ? await listIds(deps, { campaignId, limit }) : '[]'
    const work = { campaignId, limit, untried }
    const write = (tx: Tx) => pace.measure(limit, () => move(deps, tx, work))
    const count = await pace.batch(() => deps.store.write(write, { heavyFor: projectId }), signal)
    moved += count
    if (count === 0) break
  }
  return moved
}

async function listIds(
  { store }: SettleDeps,
  page: { campaignId: string; limit: number },
): Promise<string> {
  return JSON.stringify((await store.scan.list(listUntried, page)).map(({ id }) => id))
}

async function putAside({ now }: SettleDeps, tx: Tx, { campaignId, limit }: Work): Promise<number> {
  return (await tx.list(pauseWaiting, { campaignId, limit, at: now() })).length
}

/** Once none is left, they can get new slots. */
async function putAsideUntried(
  { now, campaignNotifier }: SettleDeps,
  tx: Tx,
  work: Work,
): Promise<number> {
  const { campaignId, untried: ids } = work
  const moved = (await tx.list(pauseUntried, { campaignId, ids, at: now() })).length
  if (moved > 0) return moved
  await tx
    .update(campaignProgress)
    .set({ hasOldSlots: false })
    .where(eq(campaignProgress.campaignId, campaignId))
  tx.afterCommit(() => campaignNotifier.notify())
  return 0
}

async function makeDue({ now, queueNotifier }: SettleDeps, tx: Tx, work: Work): Promise<number> {
  const { campaignId, limit } = work
  const released = await tx.list(releasePaused, { campaignId, limit, at: now() })
  tx.afterCommit(() => notifyReleased(queueNotifier, released))
  return released.length
}

async function endWaiting(deps: SettleDeps, tx: Tx, work: Work): Promise<number> {
  const { campaignId, limit } = work
  const waiting = await tx.list(listCancelled, { campaignId, limit })
  const end = { state: 'failed', error: 'cancelled', reason: 'cancelled' } as const
  const endings = waiting.map((email) => ({ email, end }))
  return endEmails(deps, tx, { endings, at: deps.now() })
}
