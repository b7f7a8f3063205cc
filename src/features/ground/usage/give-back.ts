/**
 * Takes emails that failed or were suppressed off the use of the month in which they were accepted. One
 * that is tried again counts again (`count.ts`), and can fail again. One that ended when it was accepted
 * was never counted. Its event says so.
 */
import type { CountedEvent } from '../../../store/schema/analytics.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { categoryOf } from './categories.ts'
import { type MonthChange, takeOff } from './counters.ts'
import { monthOf } from './month.ts'

/** The events of emails that no longer count. */
export const ENDS: readonly string[] = ['email.failed', 'email.suppressed']

/** The detail of an end that came with the acceptance. */
const AT_ACCEPTANCE = 'acceptance'

export async function giveBack(tx: Tx, events: readonly CountedEvent[]): Promise<void> {
  const sums = new Map<string, MonthChange>()
  for (const event of events) {
    const { name, projectId, acceptedAt, sourceType, isPlatform } = event
    if (!ENDS.includes(name) || event.detail === AT_ACCEPTANCE) continue
    // Nothing is known of an email that was deleted before its event.
    if (acceptedAt === null || sourceType === null || isPlatform) continue
    const startsAt = monthOf(acceptedAt)
    const category = categoryOf(sourceType)
    const key = `${projectId} ${startsAt} ${category}`
    const count = (sums.get(key)?.count ?? 0) + 1
    sums.set(key, { projectId, startsAt, category, count })
  }
  for (const change of sums.values()) await takeOff(tx, change)
}
