/**
 * The requests by which users prove who they are, and the responses to logins, sign-ups and second
 * factors.
 */
import { z } from 'zod'
import { tooLongText } from '../base/errors.ts'
import { emailAddress } from './fields.ts'
import {
  LINK_TOKEN_LENGTH,
  MAX_CODE_LENGTH,
  MAX_NAME_LENGTH,
  MAX_PASSWORD_LENGTH,
  MAX_SETUP_TOKEN_LENGTH,
  MIN_PASSWORD_LENGTH,
} from './limits.ts'

/** A password that is only compared with the stored one. */
export const presentPassword = z.string().min(1).max(MAX_PASSWORD_LENGTH)

/**
 * The password of a login. It has no minimum length: a wrong password may be shorter than any
 * stored one.
 */
const loginPassword = z.string().max(MAX_PASSWORD_LENGTH, tooLongText(MAX_PASSWORD_LENGTH))

/** A new password. */
export const newPassword = z
  .string()
  .min(MIN_PASSWORD_LENGTH, `Must be at least ${MIN_PASSWORD_LENGTH} characters long`)
  .max(MAX_PASSWORD_LENGTH, tooLongText(MAX_PASSWORD_LENGTH))

export const loginCode = z
  .string()
  .min(1)
  .max(MAX_CODE_LENGTH)
  .meta({ description: 'Six digits of the authenticator app, or a recovery code' })

/** The token of a link that was mailed to a user. */
export const emailToken = z
  .string()
  .length(LINK_TOKEN_LENGTH, `Must be exactly ${LINK_TOKEN_LENGTH} characters long`)

export const credentials = z.object({
  email: emailAddress,
  password: loginPassword,
  code: loginCode.optional(),
})

/**
 * The token of a link to set the server up. Any text is taken, because a cut link is as wrong as another one.
 */
const setupToken = z
  .string()
  .min(1)
  .max(MAX_SETUP_TOKEN_LENGTH)
  .meta({ description: 'What the link has behind `#`' })

export const setupRequest = z.object({
  token: setupToken,
  email: emailAddress,
  password: newPassword,
  projectName: z
    .string()
    .max(MAX_NAME_LENGTH, tooLongText(MAX_NAME_LENGTH))
    .optional()
    .meta({ description: 'Without it, no project is made' }),
})

export const newCredentials = z.object({ email: emailAddress, password: newPassword })

export const loginResult = z
  .object({
    success: z.boolean(),
    twoFactor: z
      .literal(true)
      .optional()
      .meta({ description: 'The password is right, and a code is needed' }),
    data: z.union([
      z.object({ id: z.string(), email: z.string() }),
      z.string().meta({ description: 'Why the login was refused' }),
    ]),
  })
  .meta({ id: 'LoginResult' })

export const signUpResult = z.discriminatedUnion('success', [
  z.object({
    success: z.literal(true),
    data: z.object({ id: z.uuid(), email: z.string() }),
  }),
  z.object({
    success: z.literal(false),
    data: z.string().meta({ description: 'Why not, for the person who signs up' }),
  }),
])

export const newSecondFactor = z
  .object({
    secret: z.string().meta({ description: 'Base32, to type into the authenticator app' }),
    uri: z.string().meta({ description: '`otpauth:`, to show as a QR code' }),
  })
  .meta({ id: 'NewSecondFactor' })

export type NewSecondFactor = z.output<typeof newSecondFactor>

export const newRecoveryCodes = z
  .object({
    recoveryCodes: z
      .array(z.string())
      .meta({ description: 'Each replaces one code of the app; shown only this once' }),
  })
  .meta({ id: 'RecoveryCodes' })

export const identityProviders = z
  .object({
    github: z.boolean(),
    google: z.boolean(),
    oidc: z
      .object({ name: z.string().meta({ description: 'As users know the provider' }) })
      .nullable(),
  })
  .meta({ id: 'IdentityProviders' })
