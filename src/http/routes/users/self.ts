/** The user who has logged in. */
import { z } from 'zod'
import { invalidField } from '../../../base/errors.ts'
import { isTimezone } from '../../../features/outreach/workflows/schedule/next-firing.ts'
import {
  changePassword,
  describeSelf,
  updatePreferences,
} from '../../../features/tenancy/accounts/users/edit-users.ts'
import { newPassword, presentPassword } from '../../../records/login.ts'
import { userExample, userRecord } from '../../../records/user.ts'
import { MAX_ACCOUNT_BYTES } from '../../body/account-bytes.ts'
import { loginCookies } from '../../exchange/cookies.ts'
import { guesserOf } from '../../exchange/session.ts'
import { type HttpResponse, json } from '../../response.ts'
import { type RouteDeps, type UserCall, userOperation } from '../../route.ts'
import { whileClientWaits } from '../../server/client-gone.ts'

const MAX_TIMEZONE_LENGTH = 100
const ADDRESS_STAYS =
  'The email address of an account cannot be changed: make an account with the new one, and invite it to your projects'

const change = z
  .object({
    currentPassword: presentPassword.optional(),
    newPassword: newPassword.optional(),
    language: z
      .string()
      .regex(/^[a-z]{2}(-[A-Z]{2})?$/, 'Expected a language such as en or pt-BR')
      .optional(),
    timezone: z
      .string()
      .max(MAX_TIMEZONE_LENGTH)
      .refine(isTimezone, 'Not the name of a time zone, such as Europe/Berlin')
      .optional(),
    email: z.unknown().optional().meta({
      description: 'It cannot be changed: another address than that of the account is refused',
    }),
  })
  .superRefine(({ currentPassword, newPassword, language, timezone, email }, context) => {
    const isPassword = currentPassword !== undefined || newPassword !== undefined
    const isPreference = language !== undefined || timezone !== undefined
    const refuse = (field: string, message: string) =>
      context.addIssue({ code: 'custom', path: [field], message })
    if (isPassword && isPreference)
      refuse('newPassword', 'Change the password in a call of its own')
    else if (!isPassword && !isPreference && email === undefined)
      refuse('newPassword', 'There is nothing to change')
    else if (isPassword && currentPassword === undefined) refuse('currentPassword', 'Required')
    else if (isPassword && newPassword === undefined) refuse('newPassword', 'Required')
  })

type SelfChange = z.output<typeof change>

const shared = {
  tag: 'Users',
  tagText: 'The user who has logged in: sessions, second factor, settings.',
} as const

export const show = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    summary: 'Show the user who has logged in',
    responses: { 200: { description: 'The user', schema: userRecord } },
    example: () => ({ status: 200, response: userExample }),
    handle: async ({ user }) => json(200, await describeSelf(core, user.id)),
  })

export const update = ({ core }: RouteDeps) =>
  userOperation({
    ...shared,
    // A new password protects the user.
    growsDisk: false,
    summary: 'Change the password, or the language and the time zone',
    description:
      'A new password ends all other sessions and the links that reset it; this session goes on with the cookie of the response.',
    body: change,
    maxBodyBytes: MAX_ACCOUNT_BYTES,
    responses: { 200: { description: 'The user', schema: userRecord } },
    example: () => ({
      request: { language: 'de', timezone: 'Europe/Berlin' },
      status: 200,
      response: { ...userExample, language: 'de', timezone: 'Europe/Berlin' },
    }),
    handle: async (call) => {
      const { currentPassword, newPassword, language, timezone, email } = call.body
      if (email !== undefined && !isAddressOf(call.user, email)) {
        throw invalidField('email', 'custom', ADDRESS_STAYS)
      }
      if (currentPassword === undefined || newPassword === undefined) {
        return json(200, await updatePreferences(core, call.user.id, { language, timezone }))
      }
      return setPassword(core, call, { currentPassword, newPassword })
    },
  })

/** Whether the address is the user's own: a client may send back the whole record. */
function isAddressOf({ address }: UserCall<unknown, unknown>['user'], given: unknown): boolean {
  return typeof given === 'string' && given.toLowerCase() === address.toLowerCase()
}

async function setPassword(
  core: RouteDeps['core'],
  call: UserCall<unknown, SelfChange>,
  passwords: { currentPassword: string; newPassword: string },
): Promise<HttpResponse> {
  const changed = await whileClientWaits(call.incoming, (signal) =>
    changePassword(core, {
      ...guesserOf(call),
      password: passwords.currentPassword,
      field: 'currentPassword',
      newPassword: passwords.newPassword,
      session: call.session,
      signal,
    }),
  )
  const { config, now } = core
  const cookies = loginCookies(config, changed, now())
  return { ...json(200, changed.user), cookies }
}
