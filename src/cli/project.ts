/** `project …`: projects and their keys. */
import {
  createProject,
  describeKeys,
  listProjects,
  regenerateKeys,
  updateProject,
} from '../features/tenancy/accounts/projects/projects.ts'
import type { ProjectKeysRecord, ServerProject } from '../records/project.ts'
import { PROJECT_COLUMNS, projectStanding } from '../records/tables.ts'
import {
  type CommandContext,
  type Input,
  type Result,
  UsageError,
  withCore,
} from './engine/command.ts'
import { escapeControls, formatFields, formatRecords } from './engine/text.ts'

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
