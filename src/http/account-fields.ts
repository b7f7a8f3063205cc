/** Shapes of users and of what they prove themselves with. */
import { z } from 'zod'
import { tooLongText } from '../base/errors.ts'
import { LINK_TOKEN_LENGTH } from '../features/tenancy/accounts/links/link-token.ts'
import {
  MAX_PASSWORD_LENGTH,
  MIN_PASSWORD_LENGTH,
} from '../features/tenancy/accounts/passwords/passwords.ts'

const MAX_CODE_LENGTH = 40

/** The bodies of these calls are small, and anyone can send them. */
export const MAX_ACCOUNT_BYTES = 16 * 1024

/** A password that is only compared. */
export const presentPassword = z.string().min(1).max(MAX_PASSWORD_LENGTH)

/** The password of a log-in: a wrong one may be shorter than any that is stored. */
export const loginPassword = z.string().max(MAX_PASSWORD_LENGTH, tooLongText(MAX_PASSWORD_LENGTH))

export const code = z
  .string()
  .min(1)
  .max(MAX_CODE_LENGTH)
  .meta({ description: 'Six digits of the authenticator app, or a recovery code' })

/** A password that is stored, or could have been. */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `Must be at least ${MIN_PASSWORD_LENGTH} characters long`)
  .max(MAX_PASSWORD_LENGTH, tooLongText(MAX_PASSWORD_LENGTH))

/** The token of a mailed link. */
export const emailToken = z
  .string()
  .length(LINK_TOKEN_LENGTH, `Must be exactly ${LINK_TOKEN_LENGTH} characters long`)

/** The result of a call whose effect is all there is to say. */
export const messageResult = z.object({
  success: z.literal(true),
  data: z.object({ message: z.string() }),
})
