/**
 * Finds faults that an author may want to mend before a workflow is enabled. A workflow with errors
 * cannot be enabled.
 */
import { type Effort, newEffort } from '../../../../config/layers/closest.ts'
import { and, eq, inArray, sql } from '../../../../store/drizzle.ts'
import { domains } from '../../../../store/schema/domains.ts'
import { templates } from '../../../../store/schema/messages.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import type { Queries } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { findSilentEvents } from '../../../people/segments/membership-events.ts'
import { findSegment } from '../../../people/segments/segments.ts'
import { findCycles, loadMakers } from '../chains/cycles.ts'
import { findFindings, reachedSteps, type WorkflowFinding } from '../graph/findings.ts'
import type { TypedStep } from '../graph/step-config.ts'
import { findInSteps } from '../graph/step-findings.ts'
import { reachableFrom } from '../graph/structure.ts'
import { findWorkflow, loadWorkflow, type WorkflowKey } from '../workflow.ts'
import { loadDefinition, loadTemplatesOf } from './find.ts'
import { listCampaignsOf } from './require-references.ts'
import { findUnfilled } from './unfilled-variables.ts'

const bodyOfOthers = sql`replace(lower(${templates.body}), 'unsubscribeurl', '')`

/** Returns all findings, errors first. @throws AppError WORKFLOW_NOT_FOUND */
export async function validateWorkflow(
  { store }: Pick<Base, 'store'>,
  key: WorkflowKey,
): Promise<{ findings: WorkflowFinding[] }> {
  const workflow = await loadWorkflow(store.read, key)
  const findings = await findWorkflowFindings(store.read, workflow)
  const unfilled = await findUnfilled({ store }, workflow)
  const isFirst = ({ severity }: WorkflowFinding) => severity !== 'info'
  const [urgent, others] = [findings.filter(isFirst), findings.filter((one) => !isFirst(one))]
  const asksOnce = await findAsksOnce(store.read, workflow)
  return { findings: [...urgent, ...unfilled, ...others, ...asksOnce] }
}

/** Returns the findings that need no walk over contacts, errors first. `effort`: for suggestions. */
export async function findWorkflowFindings(
  queries: Queries,
  workflow: Workflow,
  effort: Effort = newEffort(),
): Promise<WorkflowFinding[]> {
  const { projectId, segmentId } = workflow
  const { steps, transitions } = await loadDefinition(queries, workflow.id)
  const templates = await loadTemplatesOf(queries, projectId, steps)
  const senders = [...new Set([...templates.values()].map(({ fromDomain }) => fromDomain))]
  const hasSegment =
    segmentId !== null && (await findSegment(queries, { projectId, id: segmentId })) !== undefined
  const events = eventsOf(workflow, steps as TypedStep[])
  return findFindings({
    workflow,
    steps: steps as TypedStep[],
    edges: transitions,
    templates,
    campaigns: await listCampaignsOf(queries, projectId, steps),
    verifiedDomains: await listVerified(queries, projectId, senders),
    silentEvents: await findSilentEvents(queries, projectId, events, effort),
    hasSegment,
    cycles: findCycles(await loadMakers(queries, projectId), workflow.id),
  })
}

/** The steps that an edit has changed: all steps if no field is set. */
export type Edited = {
  /** The edit has changed this step alone. */
  stepId?: string | undefined
  /** The edit leads a new way to this step; the steps after it count as changed, too. */
  from?: string | undefined
}

/**
 * Returns the first error in the changed steps of an enabled workflow, where an edit takes effect
 * at once: with this error, the workflow could not be enabled. Steps to which no way leads are not
 * looked at. Undefined if the workflow was deleted after the edit.
 */
export async function findLiveError(
  { store: { read } }: Pick<Base, 'store'>,
  { stepId, from, ...key }: WorkflowKey & Edited,
): Promise<WorkflowFinding | undefined> {
  const workflow = await findWorkflow(read, key)
  if (workflow === undefined || !workflow.isEnabled) return undefined
  const definition = await loadDefinition(read, workflow.id)
  const steps = definition.steps as TypedStep[]
  const checked = {
    ...{ workflow, steps, edges: definition.transitions },
    templates: await loadTemplatesOf(read, key.projectId, steps),
    campaigns: await listCampaignsOf(read, key.projectId, steps),
    // These facts only lead to findings that are no errors, so they stay empty.
    ...{
      verifiedDomains: new Set<string>(),
      silentEvents: new Map(),
      hasSegment: true,
      cycles: [],
    },
  }
  const reached = reachedSteps(checked)
  const changed = from === undefined ? reached : reachableFrom([from], checked.edges)
  const isAsked = ({ id }: TypedStep) =>
    reached.has(id) && changed.has(id) && (stepId === undefined || stepId === id)
  return findInSteps(checked, isAsked).find(({ severity }) => severity === 'error')
}

/** Returns the names of the events that start the workflow or end its waits. */
function eventsOf({ triggerEvent }: Workflow, steps: readonly TypedStep[]): string[] {
  const waited = steps.flatMap((step) =>
    step.type === 'WAIT_FOR_EVENT' ? step.config.eventName : [],
  )
  return triggerEvent === null ? waited : [triggerEvent, ...waited]
}

async function listVerified(
  queries: Queries,
  projectId: string,
  names: readonly string[],
): Promise<Set<string>> {
  if (names.length === 0) return new Set()
  const isVerifiedSender = and(
    eq(domains.projectId, projectId),
    eq(domains.isVerified, true),
    inArray(domains.domain, [...names]),
  )
  const rows = await queries
    .select({ domain: domains.domain })
    .from(domains)
    .where(isVerifiedSender)
  return new Set(rows.map(({ domain }) => domain))
}

/**
 * Finds emails that link to the page for subscribing, in a workflow that each contact walks only
 * once: a contact who fills in a form again gets no second mail.
 */
async function findAsksOnce(
  queries: Queries,
  { id, projectId, allowsReentry }: Pick<Workflow, 'id' | 'projectId' | 'allowsReentry'>,
): Promise<WorkflowFinding[]> {
  if (allowsReentry) return []
  const { steps } = await loadDefinition(queries, id)
  const ids = [...new Set(steps.flatMap(({ templateId }) => templateId ?? []))]
  if (ids.length === 0) return []
  const asks = and(
    ...[eq(templates.projectId, projectId), inArray(templates.id, ids)],
    sql`${bodyOfOthers} like '%subscribeurl%'`,
  )
  const rows = await queries.select({ id: templates.id }).from(templates).where(asks)
  const asking = new Set(rows.map((row) => row.id))
  return steps
    .filter(({ templateId }) => templateId !== null && asking.has(templateId))
    .map(({ id: stepId, name }) => ({
      code: 'asks_once',
      severity: 'info',
      message: `The step "${name}" asks a contact to confirm, but a contact walks through the workflow once: who signs up again gets no mail.`,
      fix: 'Set allowReentry to true.',
      stepId,
    }))
}
