/**
 * Ends what must not outlive a change or reset of a password, or a change of a second factor
 * (THREATS S16): the sessions of the user, except for the one that makes the change, and the links
 * that reset the password.
 */
import type { LoginSession } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { endTokens } from '../links/email-tokens.ts'
import { endSessions } from './sessions.ts'

/** `except` goes on under a new id, which is returned; undefined if it has ended. */
export async function endAccess(
  tx: Tx,
  { userId, at }: { userId: string; at: number },
  except?: Pick<LoginSession, 'id'>,
): Promise<LoginSession | undefined> {
  await endTokens(tx, { userId, purpose: 'reset-password', at })
  return endSessions(tx, userId, except)
}
