/** `user …`: users and their passwords. */
import {
  type CreatedUser,
  createUser,
  listUsers,
  setPassword,
  type UserInput,
} from '../features/accounts/users.ts'
import type { OpenCore } from '../features/open-core.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { escapeControls, formatTable } from './engine/text.ts'
import { choosePassword } from './options/password.ts'

export function createUserCommand(context: CommandContext, input: Input): Promise<Result> {
  return withPassword(context, input, { act: createUser, done: 'was created' })
}

export function setPasswordCommand(context: CommandContext, input: Input): Promise<Result> {
  return withPassword(context, input, { act: setPassword, done: 'has a new password' })
}

async function withPassword(
  context: CommandContext,
  input: Input,
  verb: { act: (core: OpenCore, user: UserInput) => Promise<CreatedUser>; done: string },
): Promise<Result> {
  const user = await withCore(context, async (core) => {
    const password = await choosePassword(context.terminal, input)
    return verb.act(core, { address: input.required('email'), password })
  })
  const { id, email, password } = user
  const lines = [`User ${escapeControls(email)} ${verb.done} (id ${id}).`]
  if (password !== undefined) lines.push(`Password, shown only this once: ${password}`)
  return { json: user, text: lines.join('\n') }
}

export async function listUsersCommand(context: CommandContext): Promise<Result> {
  const users = await withCore(context, listUsers)
  const rows = users.map(({ id, email, isSandbox, createdAt }) => [
    id,
    email,
    createdAt.slice(0, 10),
    isSandbox ? 'created by the sandbox' : '',
  ])
  return { json: users, text: formatTable(['ID', 'EMAIL', 'SINCE', ''], rows, 'No users yet.') }
}
