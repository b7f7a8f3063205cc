/**
 * Checks the user of a session in the transaction that writes something of this user: a user who
 * was deleted a moment ago, after the request was admitted, has no session any more.
 */
import { eq } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { noSession } from '../callers/admit.ts'

/** @throws AppError UNAUTHORIZED */
export async function requireUser(tx: Pick<Tx, 'select'>, userId: string): Promise<void> {
  const user = await tx.select({ id: users.id }).from(users).where(eq(users.id, userId)).get()
  if (user === undefined) throw noSession()
}
