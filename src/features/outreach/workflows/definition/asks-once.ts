/**
 * Emails with the page that subscribes, in a workflow that each contact walks once: who fills in the form again
 * gets no second mail.
 */
import { and, eq, inArray, sql } from '../../../../store/drizzle.ts'
import { templates } from '../../../../store/schema/messages.ts'
import type { Workflow } from '../../../../store/schema/workflows.ts'
import type { WorkflowFinding } from '../graph/findings.ts'
import { loadDefinition, type Queries } from './find.ts'

const bodyOfOthers = sql`replace(lower(${templates.body}), 'unsubscribeurl', '')`

export async function findAsksOnce(
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
