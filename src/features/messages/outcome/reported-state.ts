/**
 * The states that reports decide after an attempt or instead of its outcome. The table of all final
 * states is at the top of `final-state.ts`.
 */
import { eq, sql } from '../../../store/drizzle.ts'
import { type Email, emails } from '../../../store/schema/messages.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { appendEvents, type NewEvent } from '../../events/append.ts'
import { atRest, type BounceType, type EmailOfEvent, emailEvent } from './final-state.ts'

const setBounced = statement((db) =>
  db
    .update(emails)
    .set({
      ...atRest,
      state: 'bounced',
      status: 'BOUNCED',
      sentAt: sql`coalesce(${emails.sentAt}, ${parameter('at')})`,
      bouncedAt: parameter('at'),
      error: parameter('error'),
    })
    .where(eq(emails.id, parameter('id'))),
)

const isAtEnd = sql`${emails.state} in ('delivered', 'relayed', 'bounced')`

/** A bounced email stays bounced; any other is COMPLAINED, even if it was opened or clicked. */
const setComplained = statement((db) =>
  db
    .update(emails)
    .set({
      ...atRest,
      state: sql`case when ${isAtEnd} then ${emails.state} else 'delivered' end`,
      status: sql`case when ${emails.status} = 'BOUNCED' then 'BOUNCED' else 'COMPLAINED' end`,
      sentAt: sql`case when ${isAtEnd} then ${emails.sentAt} else ${parameter('at')} end`,
      deliveredAt: sql`case when ${isAtEnd} then ${emails.deliveredAt} else ${parameter('at')} end`,
      complainedAt: parameter('at'),
      error: sql`case when ${isAtEnd} then ${emails.error} end`,
    })
    .where(eq(emails.id, parameter('id'))),
)

const setDelivered = statement((db) =>
  db
    .update(emails)
    .set({
      state: 'delivered',
      status: sql`case when ${emails.status} = 'SENT' then 'DELIVERED' else ${emails.status} end`,
      deliveredAt: parameter('at'),
      updatedAt: parameter('at'),
    })
    .where(eq(emails.id, parameter('id'))),
)

type Reported = { email: EmailOfEvent & Pick<Email, 'sentAt'>; at: number }

/** A report says that the email was not delivered. `error`: the diagnostic of the report. */
export async function bounceByReport(
  tx: Tx,
  { email, at, error, bounceType }: Reported & { error: string; bounceType: BounceType },
): Promise<void> {
  await tx.execute(setBounced, { id: email.id, error, at })
  await appendEvents(tx, [
    ...missingSentEvent({ email, at }),
    emailEvent(email, 'email.bounce', { at, data: { bounceType } }),
  ])
}

/** A report says that delivery is delayed: the state stays. */
export async function recordDelayEvent(tx: Tx, { email, at }: Reported): Promise<void> {
  const data = { bounceType: 'Transient', transientBounce: true }
  await appendEvents(tx, [emailEvent(email, 'email.bounce', { at, data })])
}

/** A report says that relayed mail has arrived. */
export async function deliverByReport(tx: Tx, { email, at }: Reported): Promise<void> {
  await tx.execute(setDelivered, { id: email.id, at })
  await appendEvents(tx, [emailEvent(email, 'email.delivery', { at })])
}

/** The recipient complained; an email whose outcome is not on record was evidently delivered. */
export async function complainByReport(
  tx: Tx,
  {
    email,
    at,
    isSettled,
    feedbackType,
  }: Reported & {
    isSettled: boolean
    feedbackType: string | null
  },
): Promise<void> {
  await tx.execute(setComplained, { id: email.id, at })
  const delivery = [...missingSentEvent({ email, at }), emailEvent(email, 'email.delivery', { at })]
  const data = feedbackType === null ? null : { feedbackType }
  await appendEvents(tx, [
    ...(isSettled ? [] : delivery),
    emailEvent(email, 'email.complaint', { at, data }),
  ])
}

/**
 * A report proves that the email was sent, even if the outcome of its session is not recorded yet,
 * or was lost with the connection or the process.
 */
function missingSentEvent({ email, at }: Reported): NewEvent[] {
  return email.sentAt === null ? [emailEvent(email, 'email.sent', { at })] : []
}
