/**
 * `project …`: projects, their keys and members, and the counts by which their reputation is
 * judged.
 */
import type { OpenCore } from '../core/open-core.ts'
import { viewSecurity } from '../features/insight/reputation/security.ts'
import { deleteProject } from '../features/operation/erasure/end-project.ts'
import {
  addMember,
  changeRole,
  deleteMember,
  handOver,
  listMembers,
} from '../features/tenancy/accounts/members/members.ts'
import { findMailProjectId } from '../features/tenancy/accounts/platform-mail/sender.ts'
import {
  createProject,
  describeKeys,
  listProjects,
  loadProject,
  regenerateKeys,
  updateProject,
} from '../features/tenancy/accounts/projects/projects.ts'
import { loadUserId } from '../features/tenancy/accounts/users/users.ts'
import type { MemberRecord } from '../records/member.ts'
import type { ProjectKeysRecord, ServerProject } from '../records/project.ts'
import type { SecurityMetrics } from '../records/security.ts'
import {
  MEMBER_COLUMNS,
  PROJECT_COLUMNS,
  projectStanding,
  SECURITY_COLUMNS,
} from '../records/tables.ts'
import { GIVEN_ROLES } from '../records/words.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { escapeControls, formatFields, formatRecords } from './engine/text.ts'
import { askYes } from './options/questions.ts'

type MemberKey = { projectId: string; userId: string }

const MAIL_WARNING =
  'this project sends the mail of the server to its users: sign-ups will fail without it'

export async function createProjectCommand(context: CommandContext, input: Input): Promise<Result> {
  const keys = await withCore(context, (core) =>
    createProject(core, { name: input.required('name'), ownerAddress: input.required('owner') }),
  )
  return { json: keys, text: describeNewKeys('was created', keys) }
}

export async function projectKeysCommand(context: CommandContext, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const isNew = input.has('regenerate')
  const keys = await withCore(context, (core) =>
    isNew ? regenerateKeys(core, id) : describeKeys(core, id),
  )
  if (isNew) return { json: keys, text: describeNewKeys('has new keys', keys) }
  const lines = [`Project ${escapeControls(keys.name)}`, '', formatKeys(keys)]
  return { json: keys, text: lines.join('\n') }
}

export async function listProjectsCommand(context: CommandContext): Promise<Result> {
  const projects = await withCore(context, listProjects)
  return { json: projects, text: formatRecords(PROJECT_COLUMNS, projects, 'No projects yet.') }
}

export async function updateProjectCommand(context: CommandContext, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const change = {
    name: input.text('name'),
    tracking: input.text('tracking')?.toUpperCase(),
    language: input.text('language'),
    postalAddress: input.text('address'),
    submissionTemplates: isYes(input.choice('submissionTemplates', ['yes', 'no'])),
    onTemplateFault: input.choice('onTemplateFault', ['send', 'refuse']),
    publicKeyMayUpdate: isYes(input.choice('publicKeyMayUpdate', ['yes', 'no'])),
    disable: input.text('disable')?.toUpperCase(),
    enable: input.has('enable') || undefined,
  }
  if (Object.values(change).every((value) => value === undefined)) {
    throw new UsageError('nothing to change: see pillarbox project update --help')
  }
  const project = await withCore(context, (core) => updateProject(core, id, change))
  return { json: project, text: describeProject(project) }
}

export async function projectSecurityCommand(
  context: CommandContext,
  { args }: Input,
): Promise<Result> {
  const [id = ''] = args
  const security = await withCore(context, (core) => viewSecurity(core, id))
  return { json: security, text: describeSecurity(security) }
}

/**
 * Runs `project delete`. Unlike the API, it also deletes disabled projects and the project that
 * sends the server's mail.
 */
export async function deleteProjectCommand(context: CommandContext, input: Input): Promise<Result> {
  const [id = ''] = input.args
  const { terminal } = context
  const isSure = input.has('yes')
  if (!isSure && terminal.stdin.isTTY !== true) {
    throw new UsageError('add --yes: there is no terminal to ask for confirmation')
  }
  const { project, isDeleted } = await withCore(context, async (core) => {
    const found = await loadProject(core, id)
    if (id === (await findMailProjectId(core, core.store.read)))
      terminal.stderr.write(`pillarbox: warning: ${MAIL_WARNING}\n`)
    if (!isSure && !(await askYes(terminal, questionAbout(found)))) {
      return { project: found, isDeleted: false }
    }
    await deleteProject(core, id, { force: true })
    return { project: found, isDeleted: true }
  })
  const name = escapeControls(project.name)
  const text = isDeleted
    ? `Project ${name} was deleted. The running server, or the next one, deletes its data.`
    : `Project ${name} was not deleted.`
  return { json: { id, deleted: isDeleted }, text }
}

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

function isYes(word: 'yes' | 'no' | undefined): boolean | undefined {
  return word === undefined ? undefined : word === 'yes'
}

function describeNewKeys(verb: string, keys: ProjectKeysRecord): string {
  const lines = [`Project ${escapeControls(keys.name)} ${verb}.`, '', formatKeys(keys), '']
  return [...lines, 'The secret key is shown only this once.'].join('\n')
}

function formatKeys({ id, public: publicKey, secret }: ProjectKeysRecord): string {
  return formatFields({ id, 'public key': publicKey, 'secret key': secret })
}

function describeProject(project: ServerProject): string {
  const fields = {
    id: project.id,
    tracking: project.tracking,
    language: project.language,
    ...(project.postalAddress !== null && { address: escapeControls(project.postalAddress) }),
    'submission templates': project.submissionTemplates ? 'yes' : 'no',
    'on template fault': project.onTemplateFault,
    'public key may update': project.publicKeyMayUpdate ? 'yes' : 'no',
    state: projectStanding(project) || 'enabled',
  }
  return [`Project ${escapeControls(project.name)}`, '', formatFields(fields)].join('\n')
}

function describeSecurity({ status, isDisabled }: SecurityMetrics): string {
  const windows = [
    { name: '24 hours', counts: status.twentyFourHour },
    { name: '7 days', counts: status.sevenDay },
    { name: 'all', counts: status.allTime },
  ]
  const findings = [
    ...status.violations.map((text) => `critical: ${text}`),
    ...status.warnings.map((text) => `warning: ${text}`),
  ]
  const standing = [
    status.isNewProject ? 'The limits of new projects apply.' : null,
    isDisabled ? 'The project is disabled.' : null,
    findings.length === 0 ? 'No limit is reached.' : findings.join('\n'),
  ].filter((line) => line !== null)
  return [formatRecords(SECURITY_COLUMNS, windows, ''), '', ...standing].join('\n')
}

function questionAbout({ name, id }: ServerProject): string {
  return `Delete project ${escapeControls(name)} (${id}) and all of its data? Type "yes": `
}

/**
 * Returns the id in the spelling in which it is stored. Whether the project exists is checked
 * later, in the transactions of the features.
 */
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
