/** Emails in the results of a search; finds emails by their id and by their Message-ID. */
import { listOf } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import { findNamedEmails } from '../emails/named-emails.ts'
import { type Candidate, RANK, type SearchDeps, type SearchedText } from './candidate.ts'

export type FoundEmail = { id: string; subject: string; recipient: string }

export const listFoundEmails = statement<FoundEmail>(
  () => sql`select id, subject, recipient from emails where id in ${listOf(parameter('ids'))}
    order by id desc`,
)

export async function searchEmails(
  { store }: SearchDeps,
  { projectId, text }: SearchedText,
): Promise<Candidate[]> {
  const ids = (await findNamedEmails({ store }, { projectId, search: text })) ?? []
  if (ids.length === 0) return []
  const found = await store.read.list(listFoundEmails, { ids: JSON.stringify(ids) })
  return found.map((email) => toEmailCandidate(email, RANK.id))
}

export function toEmailCandidate({ id, subject, recipient }: FoundEmail, rank: number): Candidate {
  return {
    rank,
    result: { kind: 'email', id, title: subject, detail: recipient, workflowId: null },
  }
}
