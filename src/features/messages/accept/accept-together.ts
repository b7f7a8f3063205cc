/**
 * Accepts the plans of many requests in one transaction, with statements that serve all of them. Which plans
 * are accepted is decided before the first write of a project, so that no refusal undoes the work of others.
 * A plan that is not accepted here gets ALONE: nothing was written for it, and `acceptEmails` accepts or refuses it.
 */
import { HOUR_MS } from '../../../clock.ts'
import { AppError } from '../../../errors.ts'
import { ALONE, type Alone } from '../../../store/write/gatherer.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { findKnownAddresses } from '../../contacts/read/known-addresses.ts'
import { insertContacts } from '../../contacts/write/insert-contacts.ts'
import { updateByAddress } from '../../contacts/write/set-subscribed.ts'
import { categoryOf } from '../../usage/categories.ts'
import { confirmHeld } from './confirm-held.ts'
import { writeContents } from './content.ts'
import { countAccepted } from './count-accepted.ts'
import { type AcceptDeps, type AcceptedEmail, insertDrafts } from './email-drafts.ts'
import type { EmailPlan } from './plan.ts'
import { toDrafts } from './to-drafts.ts'
import { type WeighedPlan, type WeighedPlans, weighPlans } from './weigh-plans.ts'

/** What the plans of a project do, and its suppressed addresses. */
type Batch = WeighedPlans & { suppressed: ReadonlySet<string> }

/** Whether `acceptTogether` takes the plan, if it is not heavy (`accept-emails.ts`). */
export function canJoin({ origin, content }: EmailPlan): boolean {
  return origin.platform === undefined && content.chunkBytes === 0
}

/**
 * The emails of each plan, or ALONE. The queue is notified when the transaction is durable.
 * @throws AppError DATABASE_ERROR
 */
export async function acceptTogether(
  deps: AcceptDeps,
  tx: Tx,
  plans: readonly EmailPlan[],
): Promise<(AcceptedEmail[] | Alone)[]> {
  const batches = await weighProjects(tx, plans)
  const held = await confirmHeld(tx, plans)
  const counted: Batch[] = []
  for (const batch of batches) if (await countBatch(deps, tx, batch)) counted.push(batch)
  const contents = counted.flatMap((batch) => batch.plans.map(({ plan }) => plan.content))
  const contentIds = await writeContents(tx, contents)
  await insertContacts(
    tx,
    counted.flatMap(({ added }) => added),
  )
  await tx.executeEach(
    updateByAddress,
    counted.flatMap(({ changed }) => changed),
  )
  const accepted = new Map<EmailPlan, AcceptedEmail[]>()
  const drafts = []
  for (const { plans: own, suppressed } of counted) {
    for (const { plan, contacts } of own) {
      const contentId = contentIds.get(plan.content) ?? plan.content.id
      const made = toDrafts(deps, plan, { contentId, contacts, suppressed, held })
      accepted.set(plan, made)
      drafts.push(...made)
    }
  }
  await insertDrafts(deps, tx, { drafts, at: plans[0]?.at ?? 0 })
  return plans.map((plan) => accepted.get(plan) ?? ALONE)
}

/** A batch for each project. Reads only. */
async function weighProjects(tx: Tx, plans: readonly EmailPlan[]): Promise<Batch[]> {
  const [first] = plans
  if (first === undefined) return []
  // The batch counts in one hour of the limits.
  const joined = plans.filter(({ at }) => hourOf(at) === hourOf(first.at))
  const batches: Batch[] = []
  for (const [projectId, own] of Map.groupBy(joined, ({ project }) => project.id)) {
    const addresses = own.flatMap(({ request }) => request.to.map(({ address }) => address.address))
    const known = await findKnownAddresses(tx, projectId, [...new Set(addresses)])
    const weighed = weighPlans(known, own)
    if (weighed.plans.length > 0) batches.push({ ...weighed, suppressed: known.suppressed })
  }
  return batches
}

/**
 * Counts the emails of a batch for the limits of its project, all or none. False if they do not fit: each plan is
 * counted alone then.
 */
async function countBatch(
  deps: AcceptDeps,
  tx: Tx,
  { plans, suppressed }: Batch,
): Promise<boolean> {
  const [first] = plans
  if (first === undefined) return false
  const { project, origin, at } = first.plan
  const count = plans.reduce((sum, each) => sum + countOf(each, suppressed), 0)
  try {
    await countAccepted(deps, tx, { project, category: categoryOf(origin.source), count, at })
    return true
  } catch (error) {
    // Comes before any write for the project.
    if (error instanceof AppError && error.code !== 'DATABASE_ERROR') return false
    throw error
  }
}

function countOf({ plan }: WeighedPlan, suppressed: ReadonlySet<string>): number {
  const { to } = plan.request
  return to.reduce((sum, { address }) => sum + (suppressed.has(address.address) ? 0 : 1), 0)
}

function hourOf(at: number): number {
  return at - (at % HOUR_MS)
}
