/** Marks of our own mail in what comes back: whose they are, and whether they still count. */
import { DAY_MS } from '../../../clock.ts'
import { readReturnPathLocalPart, readUnsubscribeLocalPart } from '../../../mail/signed-tokens.ts'
import { idTime } from '../../../store/ids.ts'
import type { Base } from '../../base.ts'

/** Of a return path, by the time of its email's id. */
const VALID_MS = 30 * DAY_MS

/** The emails whose marks hold, each once: `b.…`, `u.…`, or a bare X-Pillarbox-Id. */
export function readOwnTokens(
  { keyring }: Pick<Base, 'keyring'>,
  tokens: readonly string[],
): string[] {
  const returnKeys = keyring.keys('return-path')
  const leaveKeys = keyring.keys('mail-in-unsubscribe')
  const ids = tokens.map((token) =>
    token.startsWith('u.')
      ? readUnsubscribeLocalPart(leaveKeys, token)
      : readReturnPathLocalPart(returnKeys, token.startsWith('b.') ? token : `b.${token}`),
  )
  return [...new Set(ids.filter((id) => id !== undefined))]
}

/** Whether what is said of this email comes too late to be believed. */
export function isExpired(emailId: string, at: number): boolean {
  return at - idTime(emailId) > VALID_MS
}
