/**
 * The queue in which planned requests of clients wait for their transaction. Requests that wait at
 * the same time are accepted together (`acceptTogether`). A heavy request, one with attachments in
 * chunks and mail of the server do not wait in this queue.
 */

import { HOUR_MS } from '../../../../base/clock.ts'
import { AppError } from '../../../../base/errors.ts'
import type { NamedMailbox } from '../../../../formats/address/named-mailbox.ts'
import type { Contact } from '../../../../store/schema/contacts.ts'
import type { Store } from '../../../../store/store.ts'
import {
  ALONE,
  type Alone,
  createGatherer,
  type Gatherer,
} from '../../../../store/write/gatherer.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { categoryOf } from '../../../ground/usage/categories.ts'
import {
  type ContactBatch,
  openContactBatches,
  writeContactBatches,
} from '../../../people/contacts/write/contact-batch.ts'
import { acceptEmails, weighPlan } from './accept-emails.ts'
import { writeContents } from './content.ts'
import { type AcceptDeps, type AcceptedEmail, insertDrafts } from './email-drafts.ts'
import { countAccepted } from './new-project-cap.ts'
import type { EmailPlan } from './plan.ts'
import { confirmHeldDomains, needsSubscription, toDrafts, toEntry, toRule } from './to-drafts.ts'

/**
 * Writes the emails of a plan, and what `finish` writes for them. Resolves when they are durable.
 * @throws AppError as `acceptEmails`, and errors of `finish`
 */
export type AcceptQueue = Gatherer<EmailPlan, AcceptedEmail[]>

type QueuedPlan = { plan: EmailPlan; weight: number }

/** A plan that can be accepted, with its contacts in the order of its recipients. */
type WeighedPlan = { plan: EmailPlan; contacts: Contact[] }

/** The plans of a project, what they do with its contacts, and its suppressed addresses. */
type PlanBatch = { plans: WeighedPlan[]; batch: ContactBatch; suppressed: ReadonlySet<string> }

export function createAcceptQueue(
  deps: AcceptDeps & { store: Pick<Store, 'write' | 'recountCallers'> },
): AcceptQueue {
  const { store } = deps
  const gather = createGatherer<QueuedPlan, AcceptedEmail[]>(store, {
    together: (tx, items) =>
      acceptTogether(
        deps,
        tx,
        items.map(({ plan }) => plan),
      ),
    alone: (tx, { plan }) => acceptEmails(deps, tx, plan),
    weigh: ({ weight }) => weight,
  })
  return (plan, finish) => {
    const { isHeavy, weight } = weighPlan(plan)
    if (!isHeavy && canJoin(plan)) return gather({ plan, weight }, finish)
    const heavyFor = isHeavy ? plan.project.id : undefined
    return store.write(async (tx) => finish(tx, await acceptEmails(deps, tx, plan)), { heavyFor })
  }
}

/** Whether `acceptTogether` takes the plan, unless the plan is heavy (`weighPlan`). */
function canJoin({ origin, content }: EmailPlan): boolean {
  return origin.platform === undefined && content.chunkBytes === 0
}

/**
 * Accepts the plans of many requests in one transaction, with statements that serve all of them. The choice of the
 * accepted plans precedes the first write of a project, so that no refusal undoes the work of others. Returns the
 * emails of each plan, or ALONE: nothing was written for that plan, and `acceptEmails` accepts or refuses it. The
 * queue is notified when the transaction is durable. @throws AppError DATABASE_ERROR
 */
async function acceptTogether(
  deps: AcceptDeps,
  tx: Tx,
  plans: readonly EmailPlan[],
): Promise<(AcceptedEmail[] | Alone)[]> {
  const batches = await weighProjects(tx, plans)
  const held = await confirmHeldDomains(tx, plans)
  const counted: PlanBatch[] = []
  for (const batch of batches) if (await countBatch(deps, tx, batch)) counted.push(batch)
  const contents = counted.flatMap((batch) => batch.plans.map(({ plan }) => plan.content))
  const contentIds = await writeContents(tx, contents)
  await writeContactBatches(tx, counted)
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
  await insertDrafts(deps, tx, drafts)
  return plans.map((plan) => accepted.get(plan) ?? ALONE)
}

/** Makes a batch for each project; writes nothing. */
async function weighProjects(tx: Tx, plans: readonly EmailPlan[]): Promise<PlanBatch[]> {
  const [first] = plans
  if (first === undefined) return []
  // All emails of a batch count in one hour of the limits, so plans of another hour are accepted
  // alone.
  const joined = plans.filter(({ at }) => hourOf(at) === hourOf(first.at))
  const opened = await openContactBatches(tx, joined, {
    projectOf: ({ project }) => project.id,
    addressesOf: ({ request }) => request.to.map(({ address }) => address.address),
  })
  return opened
    .map(({ plans: own, batch, suppressed }) => {
      const weighed = own.flatMap((plan) => takePlan(batch, plan) ?? [])
      return { plans: weighed, batch, suppressed }
    })
    .filter(({ plans: weighed }) => weighed.length > 0)
}

/**
 * Puts the contacts of a plan into the batch. Returns undefined if the batch cannot do all that the
 * plan needs, or if the plan would be refused.
 */
function takePlan(batch: ContactBatch, plan: EmailPlan): WeighedPlan | undefined {
  const { to, subscribed } = plan.request
  const isSubscribed = ({ address: { address } }: NamedMailbox) =>
    subscribed ?? batch.current(address)?.subscribed ?? false
  if (needsSubscription(plan) && !to.every(isSubscribed)) return undefined
  const entries = to.map((recipient) => toEntry(plan, recipient))
  const contacts = batch.take(toRule(plan), entries)?.map(({ contact }) => contact)
  return contacts && { plan, contacts }
}

/**
 * Counts the emails of a batch for the limits of its project, all or none. Returns false if the
 * limits do not allow all: then each plan is accepted and counted alone.
 */
async function countBatch(
  deps: AcceptDeps,
  tx: Tx,
  { plans, suppressed }: PlanBatch,
): Promise<boolean> {
  const [first] = plans
  if (first === undefined) return false
  const { project, origin, at } = first.plan
  const count = plans.reduce((sum, each) => sum + countOf(each, suppressed), 0)
  try {
    await countAccepted(deps, tx, { project, category: categoryOf(origin.source), count, at })
    return true
  } catch (error) {
    // The refusal comes before any write for the project, so its plans can be accepted alone.
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
