/**
 * The give-up clock, for mail whose site could not even be tried: what waits past its time fails.
 * (What is tried fails at its last attempt, see `outcome.ts`.)
 */
import { and, inArray, isNotNull, lte } from '../../store/drizzle.ts'
import { type Email, emails } from '../../store/schema.ts'
import type { Core } from '../core.ts'
import { failEmail } from './outcome.ts'

const CHUNK = 500

export async function giveUpOverdue(core: Pick<Core, 'store' | 'now'>): Promise<void> {
  for (;;) {
    const overdue = await findOverdue(core)
    if (overdue.length === 0) return
    await core.store.write(async (tx) => {
      for (const email of overdue)
        await failEmail(tx, email, { error: giveUpText(email), at: core.now() })
    })
    if (overdue.length < CHUNK) return
  }
}

function findOverdue({ store, now }: Pick<Core, 'store' | 'now'>) {
  return store.scan
    .select({ id: emails.id, state: emails.state, error: emails.error })
    .from(emails)
    .where(
      and(
        inArray(emails.state, ['queued', 'deferred']),
        isNotNull(emails.dueAt),
        lte(emails.giveUpAt, now()),
      ),
    )
    .limit(CHUNK)
    .all()
}

/** What the email's error says once it is given up; the last reply stays readable. */
export function giveUpText({ error }: Pick<Email, 'error'>): string {
  return error === null
    ? 'given up: its destination could not be tried in time'
    : `given up; the last answer was: ${error}`
}
