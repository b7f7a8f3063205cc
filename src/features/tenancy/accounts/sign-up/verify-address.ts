/** Users prove that they read the mail to their address, by the link in it. */
import { AppError } from '../../../../base/errors.ts'
import { eq } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { noSession } from '../callers/admit.ts'
import type { SessionUser } from '../callers/caller.ts'
import { countTokens, findToken, TOKEN_LIFE_MS, useToken } from '../links/link-tokens.ts'
import { enqueuePlatformMail, findPlaces } from '../platform-mail/enqueue.ts'
import { findPlatformSender } from '../platform-mail/sender.ts'
import { isProven, markProven } from '../users/proof.ts'
import { mailUnusable } from './sign-up.ts'

type RequestDeps = Pick<Base, 'store' | 'directory' | 'config' | 'health' | 'jobNotifier' | 'now'>

/**
 * The most verification mails that a user may request in an hour, besides the mail of the sign-up.
 */
const MAILS_PER_HOUR = 3

/** @throws AppError BAD_REQUEST for a token that is unknown, used or expired */
export async function verifyByToken(
  { store, now }: Pick<Base, 'store' | 'now'>,
  token: string,
): Promise<void> {
  const at = now()
  await store.write(async (tx) => {
    const userId = await useToken(tx, { token, purpose: 'verify-email', at })
    if (userId === undefined) throw invalidToken()
    await markProven(tx, userId, at)
  })
}

/**
 * What a person sees who opens the link. `done`: the link was used, and its address is verified.
 */
export async function findVerification(
  { store, now }: Pick<Base, 'store' | 'now'>,
  token: string,
): Promise<'open' | 'done' | 'invalid'> {
  const found = await findToken({ store }, { token, purpose: 'verify-email', at: now() })
  if (found === undefined) return 'invalid'
  return found.isUsed ? 'done' : 'open'
}

/**
 * Requests another mail with a link. `verified`: the address is proven already.
 * @throws AppError RATE_LIMIT_EXCEEDED, EXTERNAL_SERVICE_ERROR when the server cannot send mail,
 *   BAD_REQUEST when it sends none, UNAUTHORIZED when the user is gone
 */
export async function requestVerification(
  deps: RequestDeps,
  user: Pick<SessionUser, 'id' | 'verifiedAt'>,
): Promise<'requested' | 'verified'> {
  const { id: userId } = user
  if (isProven(user)) return 'verified'
  const { kind } = await findPlatformSender(deps)
  if (kind === 'unusable') throw mailUnusable()
  if (kind === 'none') throw new AppError('BAD_REQUEST', 'This server sends no mail to its users.')
  const at = deps.now()
  await deps.store.write(async (tx) => {
    const place = await findPlace(tx, userId, at)
    await enqueuePlatformMail(tx, { kind: 'verify-email', userId, place }, at)
    tx.afterCommit(deps.jobNotifier.notify)
  })
  return 'requested'
}

/**
 * Finds a free place for another mail. The mails of the last hour and the mails that wait are
 * counted.
 * @throws AppError RATE_LIMIT_EXCEEDED, UNAUTHORIZED when the user is gone
 */
async function findPlace(tx: Tx, userId: string, at: number): Promise<number> {
  const user = await tx
    .select({ createdAt: users.createdAt })
    .from(users)
    .where(eq(users.id, userId))
    .get()
  if (user === undefined) throw noSession()
  const isNew = user.createdAt > at - TOKEN_LIFE_MS
  const most = isNew ? MAILS_PER_HOUR + 1 : MAILS_PER_HOUR
  const written = await countTokens(tx, { userId, purpose: 'verify-email', at })
  const { free, unwritten } = await findPlaces(tx, userId, most)
  const [place] = free
  if (place === undefined || written + unwritten >= most) throw tooManyMails()
  return place
}

function tooManyMails(): AppError {
  return new AppError(
    'RATE_LIMIT_EXCEEDED',
    `More than ${MAILS_PER_HOUR} verification mails in an hour.`,
    {
      details: { limit: MAILS_PER_HOUR, retryAfter: TOKEN_LIFE_MS / 1000 },
      suggestion: 'Look for the mails that were sent already, also among the spam.',
    },
  )
}

/** The error for a token that is unknown, used or expired. */
export function invalidToken(): AppError {
  return new AppError('BAD_REQUEST', 'This link is no longer valid.', {
    suggestion: 'A link works once, within an hour. Ask for a new mail.',
  })
}
