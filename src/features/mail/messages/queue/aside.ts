/**
 * Mail that is put aside, in state `paused`, and is due again later. `retry_at` keeps its due time
 * meanwhile: only a claim uses it otherwise.
 */
import { sql } from '../../../../store/drizzle.ts'
import { emails } from '../../../../store/schema/messages.ts'
import { shelfOfPaused } from '../../../../store/shelves.ts'
import { parameter } from '../../../../store/statement.ts'
import type { QueueLane, QueueNotifier } from './notifier.ts'

/** The columns to set when an email is put aside. */
export const aside = {
  state: 'paused',
  shelf: shelfOfPaused(),
  heldAt: parameter('at'),
  retryAt: sql`${emails.dueAt}`,
  dueAt: null,
  updatedAt: parameter('at'),
} as const

/** The columns of an email that `notifyReleased` needs. */
export const releasedColumns = {
  dueAt: emails.dueAt,
  queueClass: emails.queueClass,
  domain: emails.recipientDomain,
  projectId: emails.projectId,
}

/** Wakes the queue for mail that is due again. Mail that an operator holds has no due time. */
export function notifyReleased(
  queueNotifier: QueueNotifier,
  released: readonly (QueueLane & { dueAt: number | null })[],
): void {
  for (const { dueAt, ...lane } of released) {
    if (dueAt !== null) queueNotifier.notify({ ...lane, dueAt })
  }
}
