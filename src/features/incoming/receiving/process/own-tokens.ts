/** Reads the signed tokens of this server's mail in returned messages, and detects expired ones. */
import { DAY_MS } from '../../../../base/clock.ts'
import {
  type EmailToken,
  readReturnPathLocalPart,
  readUnsubscribeLocalPart,
} from '../../../../formats/signed-tokens.ts'
import { idTime } from '../../../../store/ids.ts'
import type { Base } from '../../../ground/base.ts'

/** A bounce counts for this long after the creation of its email (the time in the id). */
const VALID_MS = 30 * DAY_MS

/**
 * Returns the emails whose tokens this server has signed, each once. A token is `b.…` (return path), `u.…`
 * (unsubscribe address) or the value of X-Pillarbox-Id.
 */
export function readOwnTokens(
  { keyring }: Pick<Base, 'keyring'>,
  tokens: readonly string[],
): EmailToken[] {
  const returnKeys = keyring.keys('return-path')
  const unsubscribeKeys = keyring.keys('mail-in-unsubscribe')
  const emails = tokens.map((token) =>
    token.startsWith('u.')
      ? readUnsubscribeLocalPart(unsubscribeKeys, token)
      : readReturnPathLocalPart(returnKeys, token.startsWith('b.') ? token : `b.${token}`),
  )
  const known = emails.filter((email) => email !== undefined)
  return [...new Map(known.map((email) => [email.emailId, email])).values()]
}

/** Whether a bounce of this email comes too late to be applied. */
export function isExpired(emailId: string, at: number): boolean {
  return at - idTime(emailId) > VALID_MS
}
