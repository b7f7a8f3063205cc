/**
 * The tokens in links that prove something of the person who follows them: 256 random bits in hexadecimal.
 * The database has their digests only.
 */

import { hash, randomBytes } from 'node:crypto'
import { LINK_TOKEN_LENGTH } from '../../../../records/limits.ts'

export function makeLinkToken(): string {
  return randomBytes(LINK_TOKEN_LENGTH / 2).toString('hex')
}

/** The form in which the database stores a token. */
export function digestLinkToken(token: string): string {
  return hash('sha256', token)
}
