/** Finds what sent the emails that a filter `sourceId` asks for: a campaign, a template, a workflow or an execution. */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'
import type { EmailFilter } from './email-path.ts'

/** The id of a campaign, template, workflow or execution. */
export type AskedSource = { sourceId?: string | undefined }

type SourceKind = 'campaignId' | 'workflowId' | 'executionId'

const findKind = statement<{ kind: SourceKind }>(
  () => sql`select 'campaignId' as kind from campaigns where id = ${parameter('id')}
    union all select 'workflowId' from workflows where id = ${parameter('id')}
    union all select 'executionId' from workflow_executions where id = ${parameter('id')}`,
)

/**
 * Returns the filter with what its `sourceId` names in place of the id. An id of another kind counts as that of a
 * template, which may be gone while its emails exist.
 */
export async function withSource<Filter extends EmailFilter>(
  { store }: Pick<Base, 'store'>,
  filter: Filter & AskedSource,
): Promise<Filter> {
  const { sourceId: id, ...rest } = filter
  if (id === undefined) return rest as unknown as Filter
  const { kind = 'templateId' } = (await store.read.find(findKind, { id })) ?? {}
  return { ...(rest as unknown as Filter), [kind]: id }
}
