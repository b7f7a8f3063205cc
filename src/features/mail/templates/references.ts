/** Finds the templates that send from a domain. */
import { and, asc, eq } from '../../../store/drizzle.ts'
import { templates } from '../../../store/schema/messages.ts'
import type {
  Queries,
  Reference,
  ReferenceQuery,
  ReferenceSource,
} from '../../ground/manifest/reference.ts'

export const TEMPLATE_REFERENCES: readonly ReferenceSource[] = [
  {
    column: 'templates.from_domain',
    label: 'templates',
    refersTo: ['sending domain'],
    find: findTemplates,
  },
]

async function findTemplates(
  queries: Queries,
  { projectId, referent, limit }: ReferenceQuery,
): Promise<Reference[]> {
  if (referent.kind !== 'sending domain') return []
  return queries
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectId, projectId), eq(templates.fromDomain, referent.domain)))
    .orderBy(asc(templates.createdAt), asc(templates.id))
    .limit(limit ?? Number.MAX_SAFE_INTEGER)
}
