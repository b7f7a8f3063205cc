/**
 * Projects, which own contacts, emails and keys. Both keys are made together; the secret key is shown
 * only then. Every change drops the directory's cache, so that old keys stop working at once.
 */
import { formatInstant } from '../../../../base/clock.ts'
import { invalidField, NOT_ONE_LINE_TEXT, tooLongText } from '../../../../base/errors.ts'
import { oneLine } from '../../../../formats/one-line.ts'
import { MAX_POSTAL_ADDRESS_LENGTH } from '../../../../records/limits.ts'
import type {
  ListedServerProject,
  ProjectKeysRecord,
  ServerProject,
} from '../../../../records/project.ts'
import {
  DISABLED_REASONS,
  FAULT_ACTIONS,
  LANGUAGE_PATTERN,
  TRACKING_MODES,
} from '../../../../records/words.ts'
import { and, desc, eq, isNull } from '../../../../store/drizzle.ts'
import { newId } from '../../../../store/ids.ts'
import { memberships, type Project, projects, users } from '../../../../store/schema/accounts.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { projectNotFound } from '../../../ground/directory.ts'
import { loadProvenUserId } from '../users/proof.ts'
import { disableProject, enableProject } from './disable.ts'
import { makeKeys, maskSecret, type ProjectKeys, toStoredKeys } from './keys.ts'
import { readProjectName } from './name.ts'

export type ProjectSettings = {
  name?: string | undefined
  tracking?: string | undefined
  /** The language of the project: `xx` or `xx-XX`. */
  language?: string | undefined
  /** One line for the footer of marketing mail; null removes it. */
  postalAddress?: string | null | undefined
  /** Whether subject and text of mail by SMTP submission are templates. */
  submissionTemplates?: boolean | undefined
  /** What happens when a template in a send request has a fault. */
  onTemplateFault?: string | undefined
  /** Whether the public key may unsubscribe contacts, change their data and learn their ids. */
  publicKeyMayUpdate?: boolean | undefined
}

type ProjectChange = ProjectSettings & {
  /** The reason for which the project is to be disabled. */
  disable?: string | undefined
  enable?: boolean | undefined
}

type NewProject = {
  name: string
  ownerId: string
  keys: ProjectKeys
  areKeysSandbox: boolean
  at: number
}

type ProjectDeps = Pick<Base, 'store' | 'directory' | 'now'>

/**
 * Creates a project. The owner's address must be proven.
 * @throws AppError VALIDATION_ERROR (name, email), RESOURCE_NOT_FOUND when there is no such user,
 *   CONFLICT
 */
export async function createProject(
  { store, now }: Pick<Base, 'store' | 'now'>,
  input: { name: string; ownerAddress: string },
): Promise<ProjectKeysRecord> {
  const name = readProjectName(input.name)
  const keys = makeKeys()
  const id = await store.write(async (tx) => {
    const ownerId = await loadProvenUserId(tx, input.ownerAddress)
    return insertProject(tx, { name, ownerId, keys, areKeysSandbox: false, at: now() })
  })
  return { id, name, public: keys.publicKey, secret: keys.secretKey }
}

/** Lists all projects, newest first. */
export async function listProjects({ store }: Pick<Base, 'store'>): Promise<ListedServerProject[]> {
  const isOwner = and(eq(memberships.projectId, projects.id), eq(memberships.role, 'OWNER'))
  const rows = await store.read
    .select({ project: projects, owner: users.address })
    .from(projects)
    .leftJoin(memberships, isOwner)
    .leftJoin(users, eq(users.id, memberships.userId))
    .where(isNull(projects.deletedAt))
    .orderBy(desc(projects.createdAt), desc(projects.id))
  return rows.map(({ project, owner }) => ({ ...toServerProject(project), owner }))
}

/** @throws AppError RESOURCE_NOT_FOUND */
export async function loadProject(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<ServerProject> {
  const project = await store.read.select().from(projects).where(isProject(id)).get()
  if (project === undefined) throw projectNotFound(id)
  return toServerProject(project)
}

/** @throws AppError VALIDATION_ERROR, RESOURCE_NOT_FOUND */
export async function updateProject(
  { store, directory, now }: ProjectDeps,
  id: string,
  change: ProjectChange,
): Promise<ServerProject> {
  const { columns, disable } = readChange(change)
  const project = await store.write(async (tx) => {
    const at = now()
    tx.afterCommit(directory.drop)
    if (disable !== undefined) {
      await disableProject({ directory }, tx, { projectId: id, reason: disable, at })
    }
    if (change.enable === true) await enableProject({ directory }, tx, { projectId: id, at })
    const [row] = await tx
      .update(projects)
      .set({ ...columns, updatedAt: at })
      .where(isProject(id))
      .returning()
    return row
  })
  if (project === undefined) throw projectNotFound(id)
  return toServerProject(project)
}

/** Replaces both keys; the old ones stop working. @throws AppError RESOURCE_NOT_FOUND */
export async function regenerateKeys(
  { store, directory, now }: ProjectDeps,
  id: string,
): Promise<ProjectKeysRecord> {
  const keys = makeKeys()
  const at = now()
  const project = await store.write(async (tx) => {
    tx.afterCommit(directory.drop)
    return replaceKeys(tx, id, { keys, at })
  })
  if (project === undefined) throw projectNotFound(id)
  return { id, name: project.name, public: keys.publicKey, secret: keys.secretKey }
}

/**
 * Replaces both keys. The caller drops the directory's cache after the commit. Returns undefined if
 * there is no such project.
 */
export async function replaceKeys(
  tx: Tx,
  id: string,
  { keys, at }: { keys: ProjectKeys; at: number },
): Promise<Project | undefined> {
  const change = { ...toStoredKeys(keys), areKeysSandbox: false, updatedAt: at }
  const [row] = await tx.update(projects).set(change).where(isProject(id)).returning()
  return row
}

/** Shows the public key and the end of the secret key. @throws AppError RESOURCE_NOT_FOUND */
export async function describeKeys(
  { store }: Pick<Base, 'store'>,
  id: string,
): Promise<ProjectKeysRecord> {
  const project = await store.read.select().from(projects).where(isProject(id)).get()
  if (project === undefined) throw projectNotFound(id)
  return toKeysRecord(project)
}

/** Inserts a project with its owner's membership; returns the id of the project. */
export async function insertProject(tx: Tx, project: NewProject): Promise<string> {
  const { name, ownerId, keys, areKeysSandbox, at } = project
  const id = newId()
  const times = { createdAt: at, updatedAt: at }
  const onTemplateFault = 'refuse' as const
  const settings = { areKeysSandbox, submissionTemplates: false, onTemplateFault }
  await tx.insert(projects).values({ id, name, ...settings, ...toStoredKeys(keys), ...times })
  await tx
    .insert(memberships)
    .values({ userId: ownerId, projectId: id, role: 'OWNER' as const, ...times })
  return id
}

/** Checks settings and returns the columns that they change. @throws AppError VALIDATION_ERROR */
export function readSettings(settings: ProjectSettings): Partial<Project> {
  const { name, tracking, language, submissionTemplates, publicKeyMayUpdate } = settings
  const { onTemplateFault, postalAddress } = settings
  if (language !== undefined && !LANGUAGE_PATTERN.test(language)) {
    throw invalidField('language', 'invalid_string', 'Expected a language such as en or pt-BR')
  }
  return {
    ...(name === undefined ? {} : { name: readProjectName(name) }),
    ...(tracking === undefined ? {} : { tracking: oneOf(TRACKING_MODES, 'tracking', tracking) }),
    ...(language === undefined ? {} : { language }),
    ...(postalAddress === undefined ? {} : { postalAddress: readPostalAddress(postalAddress) }),
    ...(submissionTemplates === undefined ? {} : { submissionTemplates }),
    ...(onTemplateFault === undefined
      ? {}
      : { onTemplateFault: oneOf(FAULT_ACTIONS, 'onTemplateFault', onTemplateFault) }),
    ...(publicKeyMayUpdate === undefined ? {} : { publicKeyMayUpdate }),
  }
}

function readPostalAddress(given: string | null): string | null {
  const address = given?.trim() ?? ''
  if (address.length > MAX_POSTAL_ADDRESS_LENGTH) {
    throw invalidField('postalAddress', 'too_big', tooLongText(MAX_POSTAL_ADDRESS_LENGTH))
  }
  if (oneLine(address) !== address || !address.isWellFormed()) {
    throw invalidField('postalAddress', 'invalid_string', NOT_ONE_LINE_TEXT)
  }
  return address === '' ? null : address
}

function readChange({ disable, enable, ...settings }: ProjectChange) {
  if (disable !== undefined && enable === true) {
    throw invalidField('enable', 'custom', 'Give either disable or enable, not both')
  }
  const reason = disable === undefined ? undefined : oneOf(DISABLED_REASONS, 'disable', disable)
  return { columns: readSettings(settings), disable: reason }
}

/** SQL: the project exists. A deleted project whose rows are still being deleted does not. */
function isProject(id: string) {
  return and(eq(projects.id, id), isNull(projects.deletedAt))
}

function oneOf<T extends string>(allowed: readonly T[], field: string, value: string): T {
  const known = allowed.find((each) => each === value)
  if (known !== undefined) return known
  throw invalidField(field, 'invalid_enum_value', `Expected one of ${allowed.join(', ')}`)
}

function toKeysRecord({ id, name, publicKey, secretHint }: Project): ProjectKeysRecord {
  return { id, name, public: publicKey, secret: maskSecret(secretHint) }
}

function toServerProject(project: Project): ServerProject {
  return {
    ...toKeysRecord(project),
    disabled: project.isDisabled,
    disabledReason: project.disabledReason,
    tracking: project.tracking,
    language: project.language,
    postalAddress: project.postalAddress,
    submissionTemplates: project.submissionTemplates,
    onTemplateFault: project.onTemplateFault,
    publicKeyMayUpdate: project.publicKeyMayUpdate,
    createdAt: formatInstant(project.createdAt),
    updatedAt: formatInstant(project.updatedAt),
  }
}
