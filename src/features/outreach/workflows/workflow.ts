/**
 * Reads a workflow of a project, and finds what workflows use. Another project's workflow counts as
 * unknown, and so does a deleted one.
 *
 * A workflow uses an object if its trigger or the config of a step (`graph/step-config.ts`) names
 * it. The values are compared in the database, so that large configs are not read. Removed steps,
 * deleted workflows and the history of executions use nothing.
 */
import { AppError } from '../../../base/errors.ts'
import type { Statements } from '../../../store/database.ts'
import { jsonType, jsonValue, startsWith } from '../../../store/dialect.ts'
import { and, asc, eq, inArray, isNull, or, type SQL, sql } from '../../../store/drizzle.ts'
import { templates } from '../../../store/schema/messages.ts'
import { type Workflow, workflowSteps, workflows } from '../../../store/schema/workflows.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Queries } from '../../../store/write/transaction.ts'
import { spellingsOf } from '../../ground/conditions/field.ts'
import type {
  Reference,
  ReferenceQuery,
  ReferenceSource,
  Referent,
} from '../../ground/manifest/reference.ts'

export type WorkflowKey = { projectId: string; id: string }

const isNotDeleted = isNull(workflows.deletedAt)

const selectWorkflow = statement((db) =>
  db
    .select()
    .from(workflows)
    .where(
      and(
        eq(workflows.id, parameter('id')),
        eq(workflows.projectId, parameter('projectId')),
        isNotDeleted,
      ),
    ),
)

/** `queries`: a transaction or a reader. @throws AppError WORKFLOW_NOT_FOUND */
export async function loadWorkflow(
  queries: Pick<Statements, 'find'>,
  key: WorkflowKey,
): Promise<Workflow> {
  const workflow = await findWorkflow(queries, key)
  if (workflow === undefined) throw workflowNotFound(key.id)
  return workflow
}

export async function findWorkflow(
  queries: Pick<Statements, 'find'>,
  { projectId, id }: WorkflowKey,
): Promise<Workflow | undefined> {
  return queries.find(selectWorkflow, { projectId, id })
}

export function workflowNotFound(id: string): AppError {
  return new AppError('WORKFLOW_NOT_FOUND', 'No workflow of this project has that id.', {
    details: { resource: 'workflow', id },
  })
}

type Scope = { projectId: string; limit?: number | undefined }
type NamedWorkflow = { id: string; name: string }

export const WORKFLOW_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'workflows.trigger_event',
    label: 'workflows',
    refersTo: ['event'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'event' ? findStartedBy(queries, scope, referent.name) : [],
  },
  {
    column: 'workflows.segment_id',
    label: 'workflows',
    refersTo: ['segment'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'segment' ? findForSegment(queries, scope, referent.id) : [],
  },
  {
    column: 'workflow_steps.config',
    label: 'workflows',
    refersTo: ['event', 'data field', 'standard field'],
    find: (queries, { referent, ...scope }) => findByStep(queries, scope, usedBySteps(referent)),
  },
  {
    column: 'workflow_steps.template_id',
    label: 'workflows',
    refersTo: ['template'],
    find: async (queries, { referent, ...scope }) =>
      referent.kind === 'template' ? findByStep(queries, scope, sendsTemplate(referent.id)) : [],
  },
  {
    column: 'workflow_steps.template_id',
    label: 'workflowSteps',
    refersTo: ['template', 'sending domain'],
    find: findSendingSteps,
  },
]

/** Returns the condition on steps that use the object; undefined if no step can use it. */
function usedBySteps(referent: Referent): SQL | undefined {
  switch (referent.kind) {
    case 'event':
      return namesEvent(referent.name)
    case 'data field':
      return namesDataKey(referent.key)
    case 'standard field':
      return namesStandardField(referent.field)
    default:
      throw new TypeError(`The config of a step does not name a ${referent.kind}.`)
  }
}

async function findSendingSteps(
  queries: Queries,
  { referent, ...scope }: ReferenceQuery,
): Promise<Reference[]> {
  if (referent.kind === 'template') return findSteps(queries, scope, sendsTemplate(referent.id))
  if (referent.kind !== 'sending domain') return []
  return findSteps(queries, scope, sendsFrom(queries, scope, referent.domain))
}

/** Finds the workflows that an event starts, whether or not they are enabled. */
function findStartedBy(
  queries: Queries,
  scope: Scope,
  eventName: string,
): Promise<NamedWorkflow[]> {
  return findReferring(queries, scope, inArray(workflows.triggerEvent, spellingsOf(eventName)))
}

/** Finds the workflows that a schedule starts for the members of a segment. */
function findForSegment(
  queries: Queries,
  scope: Scope,
  segmentId: string,
): Promise<NamedWorkflow[]> {
  return findReferring(queries, scope, eq(workflows.segmentId, segmentId))
}

/** Finds the workflows with a step that fulfils `fits`. */
function findByStep(
  queries: Queries,
  scope: Scope,
  fits: SQL | undefined,
): Promise<NamedWorkflow[]> {
  const steps = queries
    .select({ id: workflowSteps.workflowId })
    .from(workflowSteps)
    .where(and(isPresent(scope), fits))
  return findReferring(queries, scope, inArray(workflows.id, steps))
}

/**
 * Finds the steps that fulfil `fits`. A name such as `Onboarding / Welcome mail` has the workflow
 * and the step.
 */
async function findSteps(
  queries: Queries,
  scope: Scope,
  fits: SQL | undefined,
): Promise<NamedWorkflow[]> {
  const rows = await queries
    .select({ id: workflowSteps.id, step: workflowSteps.name, workflow: workflows.name })
    .from(workflowSteps)
    .innerJoin(workflows, eq(workflows.id, workflowSteps.workflowId))
    .where(and(isPresent(scope), isNull(workflows.deletedAt), fits))
    .orderBy(asc(workflowSteps.createdAt), asc(workflowSteps.id))
    .limit(scope.limit ?? Number.MAX_SAFE_INTEGER)
  return rows.map(({ id, workflow, step }) => ({ id, name: `${workflow} / ${step}` }))
}

/** Whether a step sends the template. */
function sendsTemplate(templateId: string): SQL {
  return eq(workflowSteps.templateId, templateId)
}

/** Whether a step sends a template from the domain. */
function sendsFrom(queries: Queries, { projectId }: Scope, domain: string): SQL {
  const fromDomain = queries
    .select({ id: templates.id })
    .from(templates)
    .where(and(eq(templates.projectId, projectId), eq(templates.fromDomain, domain)))
  return inArray(workflowSteps.templateId, fromDomain)
}

/** Whether a step waits for the event, or asks whether an email has had it. */
function namesEvent(eventName: string): SQL | undefined {
  const names = spellingsOf(eventName)
  const mailNames = names.filter((name) => name.startsWith('email.'))
  return or(
    and(eq(workflowSteps.type, 'WAIT_FOR_EVENT'), inArray(configValue('eventName'), names)),
    mailNames.length === 0 ? undefined : asks(inArray(configValue('field'), mailNames)),
  )
}

/**
 * Whether a step asks for the key in the contact's data or for a part of its value, or sets the
 * key.
 */
function namesDataKey(key: string): SQL | undefined {
  const paths = [`data.${key}`, `contact.data.${key}`]
  const field = configValue('field')
  const isWithin = paths.map((path) => beginsWith(field, `${path}.`))
  return or(
    asks(or(inArray(field, paths), ...isWithin)),
    and(
      eq(workflowSteps.type, 'UPDATE_CONTACT'),
      sql`${jsonType(configValue('updates'), key)} is not null`,
    ),
  )
}

/** Whether a step asks for `contact.email` or `contact.subscribed`. */
function namesStandardField(field: string): SQL | undefined {
  return asks(eq(configValue('field'), `contact.${field}`))
}

function asks(condition: SQL | undefined): SQL | undefined {
  return and(eq(workflowSteps.type, 'CONDITION'), condition)
}

function configValue(key: string): SQL {
  return jsonValue(workflowSteps.config, key)
}

/**
 * Whether the text begins with the prefix. No LIKE is used, because the prefix may be any text,
 * even one with the signs of a pattern.
 */
function beginsWith(text: SQL, prefix: string): SQL {
  if (!/[*?[]/.test(prefix)) return startsWith(text, prefix)
  return sql`substr(${text}, 1, ${[...prefix].length}) = ${prefix}`
}

function isPresent({ projectId }: Scope): SQL | undefined {
  return and(eq(workflowSteps.projectId, projectId), isNull(workflowSteps.removedAt))
}

function findReferring(queries: Queries, scope: Scope, fits: SQL): Promise<NamedWorkflow[]> {
  return queries
    .select({ id: workflows.id, name: workflows.name })
    .from(workflows)
    .where(and(eq(workflows.projectId, scope.projectId), isNull(workflows.deletedAt), fits))
    .orderBy(asc(workflows.createdAt), asc(workflows.id))
    .limit(scope.limit ?? Number.MAX_SAFE_INTEGER)
    .all()
}
