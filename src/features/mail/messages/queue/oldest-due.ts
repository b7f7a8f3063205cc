/** The age of the queue: when the oldest email that could be tried became due. */
import type { QueueClass } from '../../../../base/queue-class.ts'
import type { Base } from '../../../ground/base.ts'
import { oldestDue } from './oldest-due.sqlite.ts'

type Deps = Pick<Base, 'store' | 'outbound' | 'now'>

/**
 * When the oldest due email became due; undefined when none is due. Emails whose site is restricted
 * now are not counted. `until`: less urgent classes are not counted either; all count if absent.
 */
export async function findOldestDue(
  { store, outbound, now }: Deps,
  until?: QueueClass,
): Promise<number | undefined> {
  const rows = await store.scan.all<{ domain: string; dueAt: number }>(oldestDue(now(), until))
  const isOpen = (domain: string) => outbound.restrictionOf(outbound.siteOf(domain)) === null
  return rows.find(({ domain }) => isOpen(domain))?.dueAt
}
