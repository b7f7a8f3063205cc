/** Users in the API: the user who has logged in, and the list of all users for operators. */
import { z } from 'zod'
import { ACCOUNT_METHODS } from './words.ts'

export const userRecord = z
  .object({
    id: z.string(),
    email: z.string(),
    isOperator: z.boolean().meta({ description: 'May see the state of the server itself' }),
    emailVerified: z.boolean(),
    onlyProjectId: z.string().nullable().meta({
      description:
        'The project that an account is bound to until its address is verified: an invitation without mail made it',
    }),
    method: z.enum(ACCOUNT_METHODS).meta({ description: 'How the user logs in' }),
    twoFactor: z.boolean().meta({ description: 'Logins need a code' }),
    language: z.string(),
    timezone: z.string(),
  })
  .meta({ id: 'User' })

/** `language`: `xx` or `xx-XX`. `timezone`: a name of the IANA database. */
export type UserRecord = z.output<typeof userRecord>

/** A user in the operator's list of all users. */
export type ListedUser = Omit<UserRecord, 'language' | 'timezone'> & {
  /** The sandbox created the user. Other modes refuse the user until a new password is set. */
  isSandbox: boolean
  createdAt: string
}

export const userExample: UserRecord = {
  id: '0199a7c0-0000-7000-8000-000000000c01',
  email: 'ada@example.com',
  isOperator: false,
  emailVerified: true,
  onlyProjectId: null,
  method: 'PASSWORD',
  twoFactor: false,
  language: 'en',
  timezone: 'UTC',
}
