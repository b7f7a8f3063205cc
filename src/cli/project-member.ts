/** `project member …`: the members of a project. */
import type { OpenCore } from '../core/open-core.ts'
import {
  addMember,
  changeRole,
  deleteMember,
  handOver,
  listMembers,
} from '../features/tenancy/accounts/members/members.ts'
import { loadProject } from '../features/tenancy/accounts/projects/projects.ts'
import { loadUserId } from '../features/tenancy/accounts/users/users.ts'
import type { MemberRecord } from '../records/member.ts'
import { MEMBER_COLUMNS } from '../records/tables.ts'
import { GIVEN_ROLES } from '../records/words.ts'
import { type CommandContext, type Input, type Result, withCore } from './engine/command.ts'
import { escapeControls, formatRecords } from './engine/text.ts'

type MemberKey = { projectId: string; userId: string }

export async function listMembersCommand(context: CommandContext, input: Input): Promise<Result> {
  const members = await withCore(context, async (core) => {
    const { id } = await loadProject(core, projectIdOf(input))
    return listMembers(core, id)
  })
  return { json: members, text: formatRecords(MEMBER_COLUMNS, members, 'No members.') }
}

export async function addMemberCommand(context: CommandContext, input: Input): Promise<Result> {
  const role = input.choice('role', GIVEN_ROLES) ?? 'MEMBER'
  const email = input.required('email')
  const member = await withCore(context, (core) =>
    addMember(core, { projectId: projectIdOf(input), email, role }),
  )
  return describeMember(member, `is a member of the project now: ${member.role}`)
}

export async function changeRoleCommand(context: CommandContext, input: Input): Promise<Result> {
  const role = input.choice('role', [...GIVEN_ROLES, 'OWNER']) ?? 'MEMBER'
  const member = await withMember(context, input, (core, key) =>
    role === 'OWNER' ? handOver(core, key) : changeRole(core, key, { role }),
  )
  return describeMember(member, `has the role ${member.role} now`)
}

export async function removeMemberCommand(context: CommandContext, input: Input): Promise<Result> {
  const member = await withMember(context, input, deleteMember)
  return describeMember(member, 'is no member of the project any more')
}

/** The verbs look for the project in their transactions. */
function projectIdOf({ args }: Input): string {
  return (args[0] ?? '').toLowerCase()
}

async function withMember(
  context: CommandContext,
  input: Input,
  act: (core: OpenCore, key: MemberKey) => Promise<MemberRecord>,
): Promise<MemberRecord> {
  return withCore(context, async (core) => {
    const userId = await loadUserId(core.store.read, input.required('email'))
    return act(core, { projectId: projectIdOf(input), userId })
  })
}

function describeMember(member: MemberRecord, claim: string): Result {
  return { json: member, text: `${escapeControls(member.email)} ${claim}.` }
}
