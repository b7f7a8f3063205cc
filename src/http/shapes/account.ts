/** Shapes of users and of what they prove themselves with. */
import { z } from 'zod'
import { MAX_PASSWORD_LENGTH, MIN_PASSWORD_LENGTH } from '../../features/accounts/passwords.ts'
import { METHOD_NAMES } from '../../features/accounts/self/view.ts'

const MAX_CODE_LENGTH = 40

/** The bodies of these calls are small, and anyone can send them. */
export const MAX_ACCOUNT_BYTES = 16 * 1024

export const password = z.string().min(MIN_PASSWORD_LENGTH).max(MAX_PASSWORD_LENGTH)

/** A password that is only compared. */
export const presentPassword = z.string().min(1).max(MAX_PASSWORD_LENGTH)

export const code = z
  .string()
  .min(1)
  .max(MAX_CODE_LENGTH)
  .meta({ description: 'Six digits of the authenticator app, or a recovery code' })

export const accountMethod = z.enum(Object.values(METHOD_NAMES))
