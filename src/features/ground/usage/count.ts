/**
 * Counts emails in the transaction that accepts them, and refuses those that are over a limit. The
 * limits are read in that transaction, so a change of them holds at once. A project without a limit
 * costs one statement, but for the first email of a month.
 *
 * A refusal comes before any write: a closure that fails after one makes its group run again
 * (`store/write/group.ts`), which a flood of refusals must not do.
 */
import { formatInstant, formatSecond } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { Project } from '../../../store/schema/accounts.ts'
import type { Email } from '../../../store/schema/messages.ts'
import type { UsageCategory } from '../../../store/schema/words.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../base.ts'
import { categoryOf, LIMIT_COLUMNS } from './categories.ts'
import {
  add,
  addAgain,
  addUnlimited,
  type MonthChange,
  type MonthUse,
  readUse,
} from './counters.ts'
import { hasSharedLimit, leftOf, limitsFor, type UsageLimit } from './limits.ts'
import { monthOf, nextMonthOf } from './month.ts'
import { announceCrossed } from './notices.ts'

export type UsageDeps = Pick<Base, 'config' | 'reportUsage'>

/** `project` may be some moments old: it only decides which statement is tried first. */
type Counted = {
  project: Project
  category: UsageCategory
  count: number
  /** When the emails are accepted; they count in that month. */
  at: number
}

/** `use`: the use that was read in this transaction. `at`: now. */
type Added = { use: MonthUse; category: UsageCategory; count: number; at: number }

type CountedEmail = Pick<Email, 'projectId' | 'sourceType' | 'isPlatform' | 'createdAt'>

type CountedUse = { projectId: string; category: UsageCategory; at: number }

/**
 * Counts emails that are about to be accepted, all or none.
 * @throws AppError BILLING_LIMIT_EXCEEDED with `details` {category, limit, used, resetsAt}, before any
 *   write
 */
export async function countUsage(deps: UsageDeps, tx: Tx, counted: Counted): Promise<void> {
  const { project, category, count, at } = counted
  const change = { projectId: project.id, startsAt: monthOf(at), category, count }
  const isUnlimited = !isLimited(deps, project, category)
  if (isUnlimited && (await addUnlimited(tx, change, hasSharedLimit(deps)))) return
  const use = await readUse(tx, change, hasSharedLimit(deps))
  if (use === undefined) return
  refuseOver(deps, use, { category, count })
  await countOnto(deps, tx, { use, category, count, at })
}

/** Counts emails whatever the limits are. */
export async function countAlways(
  deps: UsageDeps,
  tx: Tx,
  { count, at, ...asked }: CountedUse & { count: number },
): Promise<void> {
  const change = { ...asked, startsAt: monthOf(at), count }
  if (await addUnlimited(tx, change, hasSharedLimit(deps))) return
  const use = await readUse(tx, change, hasSharedLimit(deps))
  if (use !== undefined) await countOnto(deps, tx, { use, category: asked.category, count, at })
}

/** Counts emails whatever the limits are, starting from a use that was read in this transaction. */
export async function countOnto(deps: UsageDeps, tx: Tx, added: Added): Promise<void> {
  if (added.count === 0) return
  await add(tx, changeOf(added))
  await announceAdded(deps, tx, added)
}

/**
 * Counts emails again that were taken off, whatever the limits are. The use is that of the month in
 * which they were accepted.
 */
export async function countAgainOnto(deps: UsageDeps, tx: Tx, added: Added): Promise<void> {
  const isCounted = await addAgain(tx, changeOf(added))
  if (isCounted && added.use.startsAt === monthOf(added.at)) await announceAdded(deps, tx, added)
}

/**
 * Counts an email again that had failed. `isForced`: whatever the limits are.
 * @throws AppError BILLING_LIMIT_EXCEEDED as `countUsage`
 */
export async function countEmailAgain(
  deps: UsageDeps,
  tx: Tx,
  { email, at, isForced }: { email: CountedEmail; at: number; isForced: boolean },
): Promise<void> {
  if (email.isPlatform) return
  const use = await findUse(deps, tx, { projectId: email.projectId, at: email.createdAt })
  if (use === undefined) return
  const counted = { category: categoryOf(email.sourceType), count: 1 }
  if (!isForced) refuseOver(deps, use, counted)
  await countAgainOnto(deps, tx, { use, ...counted, at })
}

/**
 * Returns how many more emails the project may send in the month of `at`; infinite without a limit.
 */
export async function findUsageAllowance(
  deps: Pick<Base, 'config'>,
  reader: Pick<Tx, 'find'>,
  { projectId, category, at }: CountedUse,
): Promise<number> {
  const use = await findUse(deps, reader, { projectId, at })
  return use === undefined ? Number.POSITIVE_INFINITY : allowanceOf(deps, use, category)
}

/** Reads the use in the month of `at`; undefined if the project is gone. */
export function findUse(
  deps: Pick<Base, 'config'>,
  reader: Pick<Tx, 'find'>,
  { projectId, at }: Omit<CountedUse, 'category'>,
): Promise<MonthUse | undefined> {
  return readUse(reader, { projectId, startsAt: monthOf(at) }, hasSharedLimit(deps))
}

/** Returns how many more emails the limits allow; infinite without a limit. */
export function allowanceOf(
  deps: Pick<Base, 'config'>,
  use: MonthUse,
  category: UsageCategory,
): number {
  return leftOf(limitsFor(deps, use, category))
}

/**
 * Refuses a request that needs at least one more email.
 * @throws AppError BILLING_LIMIT_EXCEEDED as `countUsage`
 */
export async function refuseAtLimit(
  deps: Pick<Base, 'config'>,
  reader: Pick<Tx, 'find'>,
  { projectId, category, at }: CountedUse,
): Promise<void> {
  const use = await findUse(deps, reader, { projectId, at })
  if (use !== undefined) refuseOver(deps, use, { category, count: 1 })
}

function changeOf({ use: { projectId, startsAt }, category, count }: Added): MonthChange {
  return { projectId, startsAt, category, count }
}

async function announceAdded(deps: UsageDeps, tx: Tx, added: Added): Promise<void> {
  const { use, category, count, at } = added
  const after = { ...use, used: { ...use.used, [category]: use.used[category] + count } }
  await announceCrossed(deps, tx, { after, change: changeOf(added), at })
}

function isLimited(deps: UsageDeps, project: Project, category: UsageCategory): boolean {
  if (project[LIMIT_COLUMNS[category]] !== null) return true
  return hasSharedLimit(deps) && project.subscription === null
}

function refuseOver(
  deps: Pick<Base, 'config'>,
  use: MonthUse,
  { category, count }: { category: UsageCategory; count: number },
): void {
  const over = limitsFor(deps, use, category).find(({ limit, used }) => used + count > limit)
  if (over !== undefined) throw overLimit(over, use.startsAt)
}

const COUNTED = {
  transactional: ['transactional email', 'transactional emails'],
  campaigns: ['email of campaigns', 'emails of campaigns'],
  workflows: ['email of workflows', 'emails of workflows'],
  inbound: ['received email', 'received emails'],
  shared: ['email', 'emails'],
} as const satisfies Record<UsageLimit['name'], readonly [one: string, many: string]>

function overLimit({ name, limit, used }: UsageLimit, startsAt: number): AppError {
  const resetsAt = nextMonthOf(startsAt)
  const [one, many] = COUNTED[name]
  const most = `${limit} ${limit === 1 ? one : many} a month`
  const text =
    name === 'shared'
      ? `All projects of an owner without a subscription have ${most} together (billing.free_emails), and have used ${used}.`
      : `This project is limited to ${most}, and has used ${used}.`
  const remedy = name === 'shared' ? 'Subscribe' : 'Raise the limit of the project'
  return new AppError('BILLING_LIMIT_EXCEEDED', text, {
    details: { category: name, limit, used, resetsAt: formatInstant(resetsAt) },
    suggestion: `Nothing was sent. ${remedy}, or wait for the next month: it begins at ${formatSecond(resetsAt)}.`,
  })
}
