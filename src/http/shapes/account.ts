/** Shapes of the calls about accounts. */
import { z } from 'zod'
import { tooLongText } from '../../errors.ts'
import { TOKEN_LENGTH } from '../../features/accounts/email-tokens.ts'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../features/accounts/passwords.ts'

/** A password that is to be stored. */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `Must be at least ${MIN_PASSWORD_LENGTH} characters long`)
  .max(MAX_PASSWORD_LENGTH, tooLongText(MAX_PASSWORD_LENGTH))

/** The token of a mailed link. */
export const emailToken = z
  .string()
  .length(TOKEN_LENGTH, `Must be exactly ${TOKEN_LENGTH} characters long`)

/** The result of a call whose effect is all there is to say. */
export const messageResult = z.object({
  success: z.literal(true),
  data: z.object({ message: z.string() }),
})
