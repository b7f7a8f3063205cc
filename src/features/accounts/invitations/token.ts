/** The token in the link of an invitation: 256 random bits in hexadecimal, stored as their digest. */
import { hash, randomBytes } from 'node:crypto'
import type { Config } from '../../../config/config.ts'

const TOKEN_BYTES = 32
const TOKEN_PATTERN = /^[0-9a-f]{64}$/

export function makeInvitationToken(): string {
  return randomBytes(TOKEN_BYTES).toString('hex')
}

/** The form in which the database stores a token; undefined for a text that is none. */
export function digestInvitationToken(token: string): string | undefined {
  return TOKEN_PATTERN.test(token) ? hash('sha256', token) : undefined
}

/** The address of the hosted page. It depends on the configuration only, never on a request. */
export function invitationUrl({ baseUrl }: Pick<Config, 'baseUrl'>, token: string): string {
  return `${baseUrl.replace(/\/$/, '')}/invitations/${token}`
}
