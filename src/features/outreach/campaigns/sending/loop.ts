/**
 * Sends campaigns: starts those that are due, makes the emails of those that send, a stretch of
 * each in rotation, and ends those that have no waiting mail. The loop keeps its state in the
 * database, so a server that was killed goes on where it stopped.
 */
import { describeError } from '../../../../base/errors.ts'
import { indexedBy } from '../../../../store/dialect.ts'
import { eq, sql } from '../../../../store/drizzle.ts'
import { campaigns } from '../../../../store/schema/campaigns.ts'
import { isUnfinishedOfCampaign } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import { type Loop, type LoopRun, startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { findUsageAllowance } from '../../../ground/usage/count.ts'
import { findAllowance } from '../../../mail/messages/accept/new-project-cap.ts'
import { appendCampaignEvent } from '../append-event.ts'
import { loadCampaign, usageCategoryOf } from '../campaign.ts'
import { pauseInTx } from '../stopping.ts'
import {
  type ActiveCampaign,
  findNextDueCampaign,
  findSendingCampaign,
  fire,
  listDueCampaigns,
  listSending,
} from './active.ts'
import { createExpansion, type Expansion, type ExpansionDeps } from './expansion.ts'
import { countSlots, createQueueRoom, type QueueRoom, type RoomDeps, releasePaced } from './pace.ts'

export type CampaignsDeps = ExpansionDeps & RoomDeps & Pick<Base, 'disk'>

/** How long the loop rests while mail of a campaign waits to be sent, and after a failure. */
const RECHECK_MS = 1_000
const MAX_WAIT_MS = 60_000
/** How long the loop rests while the queue has enough emails. */
const FULL_MS = 250
/**
 * Above this number of due emails, delivery gets the processor: a pass makes at most `BRIEF_PASS`
 * emails. The campaign then rests for `REST_FACTOR` times the time of the pass (at most
 * `MAX_REST_MS`), multiplied by the number of campaigns that are being made.
 */
const AMPLE_DUE_EMAILS = 2_000
const BRIEF_PASS = 500
const REST_FACTOR = 3
const MAX_REST_MS = 250

/** A campaign whose emails are being made. It rests until `restUntil`, on the monotonic clock. */
type MakingState = { expansion: Expansion; restUntil: number }

type LoopState = {
  deps: CampaignsDeps
  room: QueueRoom
  making: Map<string, MakingState>
  loop: LoopRun
}

const findWaiting = statement<{ isWaiting: number }>(
  () => sql`select 1 as "isWaiting" from emails ${indexedBy('emails_campaign_shelf')}
    where campaign_id = ${parameter('campaignId')}
      and ${isUnfinishedOfCampaign} limit 1`,
)

export function startCampaigns(deps: CampaignsDeps): Loop {
  const room = createQueueRoom(deps)
  const making = new Map<string, MakingState>()
  return startLoop({
    run: (loop) => runRound({ deps, room, making, loop }),
    onError: (error) => logFailure(deps, null, error),
    wakes: [deps.campaignNotifier.listen, deps.store.onExternalChange],
    maxWaitMs: MAX_WAIT_MS,
    retryMs: RECHECK_MS,
  })
}

/** Makes a pass of each campaign. Returns how many ms to wait before the next round. */
async function runRound(state: LoopState): Promise<number> {
  const { deps, making } = state
  let waitMs = await fireDue(state)
  const active = await listSending(deps.store.read)
  const ids = new Set(active.map(({ id }) => id))
  for (const id of making.keys()) if (!ids.has(id)) making.delete(id)
  const unfinished = active.filter(({ expandedAt }) => expandedAt === null).length
  for (const campaign of active) {
    if (state.loop.signal.aborted) return 0
    const passMs = await guard(state, campaign.id, () => makePass(state, campaign, unfinished))
    waitMs = Math.min(waitMs, passMs ?? RECHECK_MS)
  }
  return waitMs
}

/** Makes emails of a campaign. Returns after how many ms it wants its next pass. `unfinished`: campaigns being made. */
async function makePass(
  state: LoopState,
  campaign: ActiveCampaign,
  unfinished: number,
): Promise<number> {
  const { deps, room } = state
  if (campaign.maxPerHour !== null) {
    // `settle-stopped.ts` first puts aside the emails with old slots, and then wakes this loop.
    if (campaign.hasOldSlots) return RECHECK_MS
    const waitMs = await releasePaced(deps, campaign)
    if (waitMs !== undefined) return Math.min(RECHECK_MS, waitMs)
  }
  if (campaign.expandedAt !== null) return (await endIfDone(deps, campaign)) ? 0 : RECHECK_MS
  // On a full disk no emails are made: they would take the space that the outcomes of queued mail
  // need.
  if (deps.disk.isLow()) return RECHECK_MS
  const own = makingStateOf(state, campaign)
  const restMs = own.restUntil - performance.now()
  if (restMs > 0) return restMs
  const { slots, waitMs } = countSlots(campaign, deps.now())
  if (slots === 0) return Math.min(RECHECK_MS, Math.max(1, waitMs))
  const allowed = await findAllowed(deps, campaign)
  if (allowed === 0) return RECHECK_MS
  const unused = await findUnused(deps, campaign)
  const free = await room.free(campaign.projectId)
  if (free === 0) return FULL_MS
  const isAmple = room.due(campaign.projectId) >= AMPLE_DUE_EMAILS
  const begunAt = performance.now()
  const limit = Math.min(
    slots,
    free,
    allowed,
    unused,
    isAmple ? BRIEF_PASS : Number.POSITIVE_INFINITY,
  )
  const { inserted, isReading, isFull } = await own.expansion.advance(campaign, limit)
  room.took(campaign.projectId, inserted)
  if (isReading) return MAX_WAIT_MS
  if (isFull && unused === 0) {
    await pauseAtLimit(deps, campaign)
    return RECHECK_MS
  }
  if (!isAmple) return 0
  const endedAt = performance.now()
  const nextRestMs = Math.min(MAX_REST_MS, REST_FACTOR * (endedAt - begunAt)) * unfinished
  own.restUntil = endedAt + nextRestMs
  return nextRestMs
}

/**
 * Returns how many more emails the project may send while it is new (`limits.new_project_daily`). A
 * campaign over this limit waits until the project may send more.
 */
async function findAllowed(deps: CampaignsDeps, { projectId }: ActiveCampaign): Promise<number> {
  if (deps.config.limits.newProjectDaily === 0) return Number.POSITIVE_INFINITY
  const project = await deps.directory.findProject(projectId)
  if (project === undefined) return Number.POSITIVE_INFINITY
  return findAllowance(deps, deps.store.read, { project, at: deps.now() })
}

/** Returns how many more emails the monthly limits of the project allow. */
function findUnused(deps: CampaignsDeps, campaign: ActiveCampaign): Promise<number> {
  const { projectId } = campaign
  const category = usageCategoryOf(campaign)
  return findUsageAllowance(deps, deps.store.read, { projectId, category, at: deps.now() })
}

function makingStateOf(state: LoopState, { id }: ActiveCampaign): MakingState {
  const known = state.making.get(id)
  if (known !== undefined) return known
  const { deps, loop } = state
  const expansion = createExpansion(deps, {
    wake: loop.wake,
    isStopping: () => loop.signal.aborted,
  })
  const own: MakingState = { expansion, restUntil: 0 }
  state.making.set(id, own)
  return own
}

/** Starts the campaigns that are due. Returns after how many ms to look for others. */
async function fireDue(state: LoopState): Promise<number> {
  const { deps } = state
  if (deps.disk.isLow()) return RECHECK_MS
  let isFailed = false
  for (const key of await listDueCampaigns(deps)) {
    const isFired = await guard(state, key.id, async () => {
      await fire(deps, key)
      return true
    })
    isFailed ||= isFired === undefined
  }
  return isFailed ? RECHECK_MS : untilNextDue(deps)
}

async function untilNextDue(deps: CampaignsDeps): Promise<number> {
  const at = await findNextDueCampaign(deps)
  if (at === null) return MAX_WAIT_MS
  return Math.min(MAX_WAIT_MS, Math.max(1, at - deps.now()))
}

/** Logs a failure, such as a full disk; the next round tries again. */
async function guard<T>(
  { deps }: LoopState,
  campaign: string,
  act: () => Promise<T>,
): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    logFailure(deps, campaign, error)
    return undefined
  }
}

function logFailure({ log }: CampaignsDeps, campaign: string | null, error: unknown): void {
  log.error(
    { campaign, error: describeError(error) },
    'a campaign could not be sent; it is tried again',
  )
}

/** Ends a campaign whose emails are all made, unless mail of it waits or is being sent. Returns whether it ended. */
async function endIfDone(
  { store, now }: Pick<Base, 'store' | 'now'>,
  { id }: ActiveCampaign,
): Promise<boolean> {
  if ((await store.read.find(findWaiting, { campaignId: id })) !== undefined) return false
  return store.write(async (tx) => {
    const active = await findSendingCampaign(tx, id)
    if (active === undefined || active.expandedAt === null) return false
    if ((await tx.find(findWaiting, { campaignId: id })) !== undefined) return false
    const { projectId } = active
    const campaign = await loadCampaign(tx, { projectId, id })
    const at = now()
    const totalRecipients = campaign.progress?.rowsMade ?? 0
    await tx
      .update(campaigns)
      .set({ status: 'SENT', sentAt: at, totalRecipients, updatedAt: at })
      .where(eq(campaigns.id, id))
    await appendCampaignEvent(tx, 'campaign.sent', { campaign, data: { totalRecipients }, at })
    return true
  })
}

/** Pauses a campaign whose project has used up a limit of its emails in a month, unless the limit was raised. */
async function pauseAtLimit(deps: CampaignsDeps, { id, projectId }: ActiveCampaign): Promise<void> {
  await deps.store.write(async (tx) => {
    const active = await findSendingCampaign(tx, id)
    if (active === undefined || active.expandedAt !== null) return
    const asked = { projectId, category: usageCategoryOf(active), at: deps.now() }
    if ((await findUsageAllowance(deps, tx, asked)) > 0) return
    const campaign = await loadCampaign(tx, { id, projectId })
    await pauseInTx(deps, tx, campaign, { reason: 'billing_limit' })
  })
}
