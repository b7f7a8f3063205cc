/** Finds the record of a project that has an id. Each table is sought once, by its unique index. */

import { displayDomain } from '../../../formats/address/address.ts'
import type { SearchResult } from '../../../records/search.ts'
import { sql } from '../../../store/drizzle.ts'
import { isUuid } from '../../../store/ids.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { type Candidate, RANK, type SearchDeps, type SearchedText } from './candidate.ts'

const isIt = sql`id = ${parameter('id')} and project_id = ${parameter('projectId')}`

/** Emails are missing: `findNamedEmails` finds these by id and by Message-ID. */
export const findRecordsById = statement<SearchResult>(
  () => sql`select 'contact' as kind, id, email as title,
      case when subscribed then 'subscribed' else 'unsubscribed' end as detail,
      null as "workflowId"
    from contacts where ${isIt}
    union all select 'campaign', id, name, status, null from campaigns where ${isIt}
    union all select 'template', id, name, type, null from templates where ${isIt}
    union all select 'segment', id, name, type, null from segments where ${isIt}
    union all select 'workflow', id, name,
      case when enabled then 'enabled' else 'disabled' end, null
    from workflows where ${isIt} and deleted_at is null
    union all select 'domain', id, domain, status, null from domains where ${isIt}
    union all select 'execution', executions.id, workflows.name, contacts.email, workflows.id
    from workflow_executions as executions
    join workflows on workflows.id = executions.workflow_id and workflows.deleted_at is null
    join contacts on contacts.id = executions.contact_id
    where executions.id = ${parameter('id')} and executions.project_id = ${parameter('projectId')}`,
)

export async function searchIds(
  { store }: SearchDeps,
  { projectId, text }: SearchedText,
): Promise<Candidate[]> {
  const id = text.toLowerCase()
  if (!isUuid(id)) return []
  const found = await store.read.list(findRecordsById, { id, projectId })
  return found.map((row) => ({ rank: RANK.id, result: toResult(row) }))
}

function toResult(row: SearchResult): SearchResult {
  return row.kind === 'domain' ? { ...row, title: displayDomain(row.title) } : row
}
