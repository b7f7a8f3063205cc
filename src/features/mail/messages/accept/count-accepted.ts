/**
 * Counts emails that are about to be accepted, for the limits of their project. All of them are
 * counted, or none. Those that end with their acceptance, such as one to a suppressed address, are not
 * counted. Every refusal comes before the first write of the email.
 */
import type { Project } from '../../../../store/schema/accounts.ts'
import type { UsageCategory } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { countUsage, type UsageDeps } from '../../../ground/usage/count.ts'
import { countAllowed, refuseOverCap } from './new-project-cap.ts'

/** `count`: without those that end with their acceptance. */
type Counted = { project: Project; category: UsageCategory; count: number; at: number }

/**
 * @throws AppError RATE_LIMIT_EXCEEDED (`limits.new_project_daily`), BILLING_LIMIT_EXCEEDED (the limits
 *   of the project by the month)
 */
export async function countAccepted(deps: UsageDeps, tx: Tx, counted: Counted): Promise<void> {
  if (counted.count === 0) return
  await refuseOverCap(deps, tx, counted)
  await countUsage(deps, tx, counted)
  await countAllowed(deps, tx, counted)
}
