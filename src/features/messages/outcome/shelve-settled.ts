/**
 * Gives emails that an attempt has settled the shelf of their new state, and clears what is sealed of those
 * that are final. Most mail needs neither: it belongs to no campaign, is not sealed and has arrived. So this
 * is a statement of its own, for the others.
 */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { isUnfinished } from '../../../store/email-terms.ts'
import type { Email } from '../../../store/schema/messages.ts'
import { shelfNow } from '../../../store/shelves.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

/** What is known of an email when it is claimed. */
export type ShelvedEmail = Pick<Email, 'id' | 'campaignId'> & { isSealed: boolean }

const shelve = statement(
  () => sql`update emails set shelf = ${shelfNow},
      sealed_variables = case when ${isUnfinished} then sealed_variables end
    where id in ${listOf(parameter('ids'))}`,
)

/** `settled`: emails whose new state and status are written, with the state. */
export async function shelveSettled(
  tx: Tx,
  settled: readonly { email: ShelvedEmail; state: Email['state'] }[],
): Promise<void> {
  const others = settled.filter(
    ({ email, state }) =>
      email.campaignId !== null || email.isSealed || state === 'bounced' || state === 'failed',
  )
  if (others.length === 0) return
  await tx.execute(shelve, { ids: JSON.stringify(others.map(({ email }) => email.id)) })
}
