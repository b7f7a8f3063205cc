/**
 * The tokens in links, which prove that the person who follows the link is the one it was given to:
 * 256 random bits in hexadecimal. The database has only the digests of tokens.
 *
 * The token of a link that is mailed to a user works once, within an hour. A used token stays until
 * it expires, because it counts towards the limits of mails.
 */
import { hash, randomBytes } from 'node:crypto'
import { HOUR_MS } from '../../../../base/clock.ts'
import { LINK_TOKEN_LENGTH } from '../../../../records/limits.ts'
import { and, eq, gt, isNull } from '../../../../store/drizzle.ts'
import { accountTokens } from '../../../../store/schema/accounts.ts'
import type { TokenPurpose } from '../../../../store/schema/words.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'

type GivenToken = { token: string; purpose: TokenPurpose; at: number }

/** How long a token is valid. The limits of mails count over the same time. */
export const TOKEN_LIFE_MS = HOUR_MS

export function makeLinkToken(): string {
  return randomBytes(LINK_TOKEN_LENGTH / 2).toString('hex')
}

/** The form in which the database stores a token. */
export function digestLinkToken(token: string): string {
  return hash('sha256', token)
}

export async function insertToken(
  tx: Tx,
  { token, purpose, at, userId }: GivenToken & { userId: string },
): Promise<void> {
  const digest = digestLinkToken(token)
  const times = { createdAt: at, expiresAt: at + TOKEN_LIFE_MS }
  await tx.insert(accountTokens).values({ digest, userId, purpose, ...times })
}

/** Returns how many tokens the user got in the last hour. Each mail with a link has one. */
export function countTokens(
  tx: Pick<Tx, '$count'>,
  { userId, purpose, at }: { userId: string; purpose: TokenPurpose; at: number },
): Promise<number> {
  const isUsers = and(eq(accountTokens.userId, userId), eq(accountTokens.purpose, purpose))
  return tx.$count(accountTokens, and(isUsers, gt(accountTokens.createdAt, at - TOKEN_LIFE_MS)))
}

/**
 * Uses a token up and returns the id of its user; undefined if the token is unknown, used or
 * expired.
 */
export async function useToken(tx: Tx, given: GivenToken): Promise<string | undefined> {
  const [used] = await tx
    .update(accountTokens)
    .set({ usedAt: given.at })
    .where(and(isGiven(given), isNull(accountTokens.usedAt)))
    .returning({ userId: accountTokens.userId })
  return used?.userId
}

/**
 * Finds the user of a token that has not expired, and whether the token was used; undefined if
 * there is no such token.
 */
export async function findToken(
  { store }: Pick<Base, 'store'>,
  given: GivenToken,
): Promise<{ userId: string; isUsed: boolean } | undefined> {
  const found = await store.read
    .select({ userId: accountTokens.userId, usedAt: accountTokens.usedAt })
    .from(accountTokens)
    .where(isGiven(given))
    .get()
  return found && { userId: found.userId, isUsed: found.usedAt !== null }
}

/** Ends all links of this purpose that were mailed to the user. */
export async function endTokens(
  tx: Tx,
  { userId, purpose, at }: { userId: string; purpose: TokenPurpose; at: number },
): Promise<void> {
  const isUsers = and(eq(accountTokens.userId, userId), eq(accountTokens.purpose, purpose))
  await tx
    .update(accountTokens)
    .set({ usedAt: at })
    .where(and(isUsers, isNull(accountTokens.usedAt)))
}

function isGiven({ token, purpose, at }: GivenToken) {
  return and(
    eq(accountTokens.digest, digestLinkToken(token)),
    eq(accountTokens.purpose, purpose),
    gt(accountTokens.expiresAt, at),
  )
}
