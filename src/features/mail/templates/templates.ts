/**
 * The templates of a project: loads, creates, changes, copies and deletes them, and finds the campaigns, workflows
 * and emails that use one.
 */
import { formatInstant } from '../../../base/clock.ts'
import { AppError, invalidField } from '../../../base/errors.ts'
import { MAX_IDS_PER_REQUEST } from '../../../records/limits.ts'
import type { TemplateRecord } from '../../../records/template.ts'
import { and, asc, count, eq, inArray, type SQL } from '../../../store/drizzle.ts'
import { newId } from '../../../store/ids.ts'
import { campaigns } from '../../../store/schema/campaigns.ts'
import { emails, type Template, templates } from '../../../store/schema/messages.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../ground/base.ts'
import { copyName } from '../../ground/copy-name.ts'
import type { Reference } from '../../ground/manifest/reference.ts'
import { findReferences, isUsed } from '../../ground/references/registry.ts'
import {
  checkFields,
  type NewFields,
  requireSender,
  type TemplateChanges,
  toColumns,
  toNewColumns,
} from './validate.ts'

/** A template of a project. Another project's template counts as unknown. */
type TemplateKey = { projectId: string; id: string }

export type NewTemplate = { projectId: string } & NewFields

type BulkUpdate = {
  projectId: string
  ids: readonly string[]
  delete?: boolean | undefined
}

type TemplateUsage = {
  /** The number of workflow steps that send the template. */
  workflowSteps: number
  /** The number of emails that were made from the template. */
  emailsSent: number
  campaigns: Reference[]
  workflows: Reference[]
  /**
   * The steps that send the template, each named by its workflow and itself:
   * `Onboarding / Welcome mail`.
   */
  steps: Reference[]
}

/** Returns a template as the API returns it. */
export function toTemplateRecord(template: Template): TemplateRecord {
  return {
    id: template.id,
    name: template.name,
    description: template.description,
    subject: template.subject,
    body: template.body,
    from: template.fromAddress,
    fromName: template.fromName,
    replyTo: template.replyTo,
    type: template.type,
    projectId: template.projectId,
    createdAt: formatInstant(template.createdAt),
    updatedAt: formatInstant(template.updatedAt),
  }
}

export function templateNotFound(id: string): AppError {
  return new AppError('TEMPLATE_NOT_FOUND', 'No template of this project has that id.', {
    details: { resource: 'template', id },
  })
}

/** @throws AppError TEMPLATE_NOT_FOUND */
export async function loadTemplateRecord(
  { store }: Pick<Base, 'store'>,
  key: TemplateKey,
): Promise<TemplateRecord> {
  return toTemplateRecord(await loadTemplate(store.read, key))
}

/** Returns the row. @throws AppError TEMPLATE_NOT_FOUND */
export async function loadTemplate(
  queries: Pick<Tx, 'select'>,
  key: TemplateKey,
): Promise<Template> {
  const template = await queries.select().from(templates).where(isTemplateOf(key)).get()
  if (template === undefined) throw templateNotFound(key.id)
  return template
}

export function isTemplateOf({ projectId, id }: TemplateKey): SQL | undefined {
  return and(eq(templates.id, id), eq(templates.projectId, projectId))
}

/** @throws AppError VALIDATION_ERROR, BAD_REQUEST (template syntax), FORBIDDEN (sender domain) */
export async function createTemplate(
  { store, outbound, now }: Pick<Base, 'store' | 'outbound' | 'now'>,
  { projectId, ...fields }: NewTemplate,
): Promise<TemplateRecord> {
  await checkFields({ outbound }, fields)
  const at = now()
  const row = await store.write(async (tx) => {
    await requireSender(tx, projectId, fields.from)
    return tx
      .insert(templates)
      .values({
        id: newId(),
        projectId,
        ...toNewColumns(fields),
        createdAt: at,
        updatedAt: at,
      })
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}

/**
 * Changes the fields that are present; null clears a field. A new subject or body makes a new
 * version; emails that were accepted earlier keep their content.
 * @throws AppError TEMPLATE_NOT_FOUND, VALIDATION_ERROR, BAD_REQUEST (template syntax), FORBIDDEN
 */
export async function updateTemplate(
  { store, directory, outbound, now }: Pick<Base, 'store' | 'directory' | 'outbound' | 'now'>,
  { changes, ...key }: TemplateKey & { changes: TemplateChanges },
): Promise<TemplateRecord> {
  await checkFields({ outbound }, changes, () => loadTemplate(store.read, key))
  const columns = toColumns(changes)
  const row = await store.write(async (tx) => {
    const current = await loadTemplate(tx, key)
    if (changes.from !== undefined) await requireSender(tx, key.projectId, changes.from)
    if (!isChange(current, columns)) return current
    tx.afterCommit(directory.drop)
    return tx
      .update(templates)
      .set({ ...columns, version: nextVersion(current, columns), updatedAt: now() })
      .where(isTemplateOf(key))
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}

/**
 * Deletes a template. Emails that were made from the template keep their content.
 * @throws AppError TEMPLATE_NOT_FOUND; CONFLICT while a workflow uses the template
 */
export async function deleteTemplate(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  key: TemplateKey,
): Promise<void> {
  const { store, directory } = deps
  await store.write(async (tx) => {
    await loadTemplate(tx, key)
    await requireUnused(deps, tx, key)
    await tx.delete(templates).where(isTemplateOf(key))
    tx.afterCommit(directory.drop)
  })
}

/** Returns the copy. @throws AppError TEMPLATE_NOT_FOUND */
export async function duplicateTemplate(
  { store, now }: Pick<Base, 'store' | 'now'>,
  key: TemplateKey,
): Promise<TemplateRecord> {
  const at = now()
  const row = await store.write(async (tx) => {
    const original = await loadTemplate(tx, key)
    const own = { id: newId(), name: copyName(original.name), version: 1 }
    return tx
      .insert(templates)
      .values({ ...original, ...own, createdAt: at, updatedAt: at })
      .returning()
      .get()
  })
  return toTemplateRecord(row)
}

/**
 * Applies a change to all of the templates, or to none. The only change is `delete`.
 * @throws AppError VALIDATION_ERROR; TEMPLATE_NOT_FOUND when the project lacks one of them;
 *   CONFLICT while a workflow uses one of them
 */
export async function bulkUpdateTemplates(
  deps: Pick<Base, 'store' | 'directory' | 'duties'>,
  { projectId, ids, delete: isDelete = false }: BulkUpdate,
): Promise<{ deleted: number } | { updated: 0 }> {
  const { store, directory } = deps
  if (ids.length === 0) throw invalidField('ids', 'too_small', 'At least one id is needed')
  if (ids.length > MAX_IDS_PER_REQUEST)
    throw invalidField('ids', 'too_big', `At most ${MAX_IDS_PER_REQUEST} ids`)
  const wanted = [...new Set(ids)]
  return store.write(async (tx) => {
    const isRequested = and(eq(templates.projectId, projectId), inArray(templates.id, wanted))
    const rows = await tx.select({ id: templates.id }).from(templates).where(isRequested)
    const known = new Set(rows.map(({ id }) => id))
    const missing = wanted.find((id) => !known.has(id))
    if (missing !== undefined) throw templateNotFound(missing)
    if (!isDelete) return { updated: 0 }
    for (const id of wanted) await requireUnused(deps, tx, { projectId, id })
    await tx.delete(templates).where(isRequested)
    tx.afterCommit(directory.drop)
    return { deleted: wanted.length }
  })
}

/** Finds the campaigns, workflows and emails that use a template. @throws AppError TEMPLATE_NOT_FOUND */
export async function findTemplateUsage(
  deps: Pick<Base, 'store' | 'duties'>,
  key: TemplateKey,
): Promise<TemplateUsage> {
  const { store } = deps
  const { id } = await loadTemplate(store.read, key)
  const { workflows, workflowSteps } = await findReferences(deps, store.scan, {
    projectId: key.projectId,
    referent: { kind: 'template', id },
  })
  const [made] = await store.scan
    .select({ total: count() })
    .from(emails)
    .where(eq(emails.templateId, id))
  return {
    workflowSteps: workflowSteps.length,
    emailsSent: made?.total ?? 0,
    campaigns: await findCampaigns(store.scan, key),
    workflows,
    steps: workflowSteps,
  }
}

function isChange(current: Template, columns: Partial<Template>): boolean {
  return Object.entries({ ...current, ...columns }).some(
    ([name, value]) => current[name as keyof Template] !== value,
  )
}

function nextVersion({ subject, body, version }: Template, columns: Partial<Template>): number {
  const isSame = (columns.subject ?? subject) === subject && (columns.body ?? body) === body
  return isSame ? version : version + 1
}

/**
 * Finds the campaigns that were made from the template, oldest first. Each holds a copy of the
 * template's content.
 */
function findCampaigns(
  queries: Pick<Tx, 'select'>,
  { projectId, id }: TemplateKey,
): Promise<Reference[]> {
  return queries
    .select({ id: campaigns.id, name: campaigns.name })
    .from(campaigns)
    .where(and(eq(campaigns.templateId, id), eq(campaigns.projectId, projectId)))
    .orderBy(asc(campaigns.createdAt), asc(campaigns.id))
    .all()
}

/** @throws AppError CONFLICT while a workflow uses the template */
async function requireUnused(
  deps: Pick<Base, 'duties'>,
  tx: Tx,
  { projectId, id }: TemplateKey,
): Promise<void> {
  const references = await findReferences(deps, tx, {
    projectId,
    referent: { kind: 'template', id },
  })
  if (!isUsed(references)) return
  const { workflows, workflowSteps: steps } = references
  throw new AppError('CONFLICT', 'A workflow uses the template.', {
    suggestion: 'Give the steps that send it another template, or remove them.',
    details: { workflows, steps },
  })
}
