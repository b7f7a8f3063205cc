/** `user …`: users, their passwords and what they may do. */
import type { OpenCore } from '../core/open-core.ts'
import {
  deleteSecondFactor,
  deleteUser,
  listUsers,
  setOperator,
  setPassword,
  verifyUser,
} from '../features/tenancy/accounts/users/edit-users.ts'
import {
  type CreatedUser,
  createUser,
  type UserInput,
} from '../features/tenancy/accounts/users/users.ts'
import { USER_COLUMNS } from '../records/tables.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { escapeControls, formatRecords } from './engine/text.ts'
import { readGivenPassword } from './options/password.ts'

export function createUserCommand(context: CommandContext, input: Input): Promise<Result> {
  const first = { ...context, makesDataDir: true }
  return withPassword(first, input, { act: createUser, done: 'was created' })
}

export function setPasswordCommand(context: CommandContext, input: Input): Promise<Result> {
  const done = 'has a new password, and all sessions have ended'
  return withPassword(context, input, { act: setPassword, done })
}

async function withPassword(
  context: CommandContext,
  input: Input,
  verb: { act: (core: OpenCore, user: UserInput) => Promise<CreatedUser>; done: string },
): Promise<Result> {
  const user = await withCore(context, async (core) => {
    const password = await readGivenPassword(context.terminal, input)
    const isOperator = input.has('operator')
    return verb.act(core, { address: input.required('email'), password, isOperator })
  })
  const { id, email, password } = user
  const lines = [`User ${escapeControls(email)} ${verb.done} (id ${id}).`]
  if (password !== undefined) lines.push(`Password, shown only this once: ${password}`)
  return { json: user, text: lines.join('\n') }
}

export async function operatorCommand(context: CommandContext, input: Input): Promise<Result> {
  const isOperator = input.has('on')
  if (isOperator === input.has('off')) throw new UsageError('give either --on or --off')
  const change = { email: input.required('email'), isOperator }
  const user = await withCore(context, (core) => setOperator(core, change))
  const done = isOperator ? 'is an operator now' : 'is no operator any more'
  return { json: user, text: `User ${escapeControls(user.email)} ${done}.` }
}

export async function verifyUserCommand(context: CommandContext, input: Input): Promise<Result> {
  const change = { email: input.required('email'), isVerified: !input.has('off') }
  const user = await withCore(context, (core) => verifyUser(core, change))
  const claim = change.isVerified ? 'counts as verified' : 'does not count as verified any more'
  return { json: user, text: `The address ${escapeControls(user.email)} ${claim}.` }
}

export async function totpCommand(context: CommandContext, input: Input): Promise<Result> {
  if (!input.has('disable')) throw new UsageError('--disable is missing: users turn it on')
  const user = await withCore(context, (core) => deleteSecondFactor(core, input.required('email')))
  const name = escapeControls(user.email)
  return { json: user, text: `User ${name} has no second factor, and all sessions have ended.` }
}

export async function deleteUserCommand(context: CommandContext, input: Input): Promise<Result> {
  const user = await withCore(context, (core) => deleteUser(core, input.required('email')))
  return { json: user, text: `User ${escapeControls(user.email)} was deleted.` }
}

export async function listUsersCommand(context: CommandContext): Promise<Result> {
  const users = await withCore(context, listUsers)
  return { json: users, text: formatRecords(USER_COLUMNS, users, 'No users yet.') }
}
