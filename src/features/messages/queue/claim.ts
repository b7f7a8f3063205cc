/**
 * The two statements of a claim, which run most often in the queue. A claim returns all columns that the
 * delivery needs, so that the row is not read again.
 */

import type { RowOf } from '../../../store/database.ts'
import { addressDigest, rowNumber, unseen } from '../../../store/dialect.ts'
import { min, sql } from '../../../store/drizzle.ts'
import { emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { isOwnWish } from '../../wishes/wishes.ts'
import { sourceColumns } from '../delivery/source.ts'
import { retryDelay } from './retry-delay.sqlite.ts'

/** A claimed email, with the facts that decide whether it may still be sent. */
export type ClaimedEmail = RowOf<typeof claimLane>

/** Of the recipient's address; links and the return path carry it. */
const digest = addressDigest(sql`emails.project_id`, sql`emails.recipient`)

/** Whether the recipient of an email may get mail. Nobody asks for a wish before transactional mail. */
export const recipientColumns = {
  isSubscribed: sql<boolean>`(select subscribed from contacts
    where contacts.id = emails.contact_id)`.mapWith(Boolean),
  isSuppressed: sql<boolean>`exists (select 1 from suppressions
    where suppressions.project_id = emails.project_id
    and suppressions.email = emails.recipient
    and not (emails.ignores_complaint and suppressions.reason = 'COMPLAINT'))`.mapWith(Boolean),
  hasLeft: sql<boolean>`(emails.content_class <> 'TRANSACTIONAL' and exists (select 1 from wishes
    where wishes.digest = ${digest} and ${isOwnWish}))`.mapWith(Boolean),
}

/** Leases at most `limit` due emails of a lane, the earliest first. */
export const claimLane = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'sending',
      status: 'SENDING',
      dueAt: null,
      retryAt: sql`${parameter('now')} + ${retryDelay(parameter('delays'), emails.failureCount)}`,
      leaseUntil: parameter('leaseUntil'),
      attemptCount: sql`${emails.attemptCount} + 1`,
      updatedAt: parameter('now'),
    })
    .where(
      sql`${rowNumber()} in (select ${rowNumber()} from emails where ${isOfLane()}
        and due_at <= ${unseen(parameter('now'))}
        order by due_at limit ${unseen(parameter('limit'))})`,
    )
    .returning({
      ...sourceColumns,
      sealedVariables: emails.sealedVariables,
      recipientDomain: emails.recipientDomain,
      queueClass: emails.queueClass,
      giveUpAt: emails.giveUpAt,
      failureCount: emails.failureCount,
      attemptCount: emails.attemptCount,
      digest: sql<Buffer>`${digest}`,
      ...recipientColumns,
    }),
)

/** When a lane's earliest email is due. */
export const findNextDue = statement((db) =>
  db
    .select({ dueAt: min(emails.dueAt) })
    .from(emails)
    .where(isOfLane()),
)

function isOfLane() {
  return sql`due_at is not null
    and queue_class = ${unseen(parameter('queueClass'))}
    and recipient_domain = ${unseen(parameter('domain'))}
    and project_id = ${unseen(parameter('projectId'))}`
}
