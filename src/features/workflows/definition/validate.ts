/** What an author may want to mend before a workflow is enabled. Enabling refuses errors. */
import { and, eq, inArray } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Workflow } from '../../../store/schema/workflows.ts'
import type { Base } from '../../base.ts'
import { findSegment } from '../../segments/get.ts'
import { findCycles } from '../chains/cycles.ts'
import { loadMakers } from '../chains/makers.ts'
import { findFindings, type WorkflowFinding } from '../graph/findings.ts'
import type { Step } from '../graph/step-config.ts'
import { loadWorkflow, type WorkflowKey } from '../load-workflow.ts'
import { loadDefinition, loadTemplatesOf, type Queries } from './find.ts'

/** Errors first. @throws AppError WORKFLOW_NOT_FOUND */
export async function validateWorkflow(
  { store }: Pick<Base, 'store'>,
  key: WorkflowKey,
): Promise<{ findings: WorkflowFinding[] }> {
  const workflow = await loadWorkflow(store.read, key)
  return { findings: await findWorkflowFindings(store.read, workflow) }
}

/** Errors first. */
export async function findWorkflowFindings(
  queries: Queries,
  workflow: Workflow,
): Promise<WorkflowFinding[]> {
  const { projectId, segmentId } = workflow
  const { steps, transitions } = await loadDefinition(queries, workflow.id)
  const templates = await loadTemplatesOf(queries, projectId, steps)
  const senders = [...new Set([...templates.values()].map(({ fromDomain }) => fromDomain))]
  const hasSegment =
    segmentId !== null && (await findSegment(queries, { projectId, id: segmentId })) !== undefined
  return findFindings({
    workflow,
    steps: steps as Step[],
    edges: transitions,
    templates,
    verifiedDomains: await listVerified(queries, projectId, senders),
    hasSegment,
    cycles: findCycles(await loadMakers(queries, projectId), workflow.id),
  })
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
