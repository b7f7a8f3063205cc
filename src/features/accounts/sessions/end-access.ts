/**
 * What a change of a password or of a second factor ends (THREATS S16): the sessions of the user, except
 * for the one that makes the change, and the links that reset the password.
 */
import { and, eq, isNull } from '../../../store/drizzle.ts'
import { accountTokens, type Session } from '../../../store/schema/accounts.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import { endSessions } from './sessions.ts'

/** `except` goes on under a new id, which is returned; undefined if it has ended. */
export async function endAccess(
  tx: Tx,
  { userId, at }: { userId: string; at: number },
  except?: Pick<Session, 'id'>,
): Promise<Session | undefined> {
  // Used ones count for the limit of mails, so they stay.
  const isOpen = and(
    eq(accountTokens.userId, userId),
    eq(accountTokens.purpose, 'reset-password'),
    isNull(accountTokens.usedAt),
  )
  await tx.update(accountTokens).set({ usedAt: at }).where(isOpen)
  return endSessions(tx, userId, except)
}
