/** How long mail has waited that could go: the age of the queue, for those who watch the server. */
import type { Base } from '../../base.ts'
import { oldestDue } from './oldest-due.sqlite.ts'

type Deps = Pick<Base, 'store' | 'outbound' | 'now'>

/**
 * When the email that could have been tried first became due; undefined when none is due. Mail of
 * destinations that take nothing, or little, now is not looked at.
 */
export async function findOldestDue({ store, outbound, now }: Deps): Promise<number | undefined> {
  const rows = await store.scan.all<{ domain: string; dueAt: number }>(oldestDue(now()))
  const isOpen = (domain: string) => outbound.restrictionOf(outbound.siteOf(domain)) === null
  return rows.find(({ domain }) => isOpen(domain))?.dueAt
}
