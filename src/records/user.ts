/** Users in the API: what users see of themselves, and the form for the operator of the server. */
import { z } from 'zod'
import { METHOD_NAMES } from './words.ts'

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
    method: z.enum(Object.values(METHOD_NAMES)).meta({ description: 'How the user logs in' }),
    twoFactor: z.boolean().meta({ description: 'Logins need a code' }),
    language: z.string(),
    timezone: z.string(),
  })
  .meta({ id: 'User' })

export type UserRecord = z.output<typeof userRecord>

/** `isSandbox`: created by the sandbox; refused in other modes until the user gets a new password. */
export type ListedUser = Omit<UserRecord, 'language' | 'timezone'> & {
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
