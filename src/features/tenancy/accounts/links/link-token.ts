/**
 * The tokens in links, each of which proves something about the person who follows the link: 256
 * random bits in hexadecimal. The database has only the digests of tokens.
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
