import type { DomainRecord } from '../../../records/domain.ts'
import { desc, eq } from '../../../store/drizzle.ts'
import { domains } from '../../../store/schema/domains.ts'
import type { Base } from '../../ground/base.ts'
import { toDomainRecord } from './view.ts'

/** Lists a project's domains, or those of all projects; newest first. */
export async function listDomains(
  { store, config }: Pick<Base, 'store' | 'config'>,
  projectId?: string,
): Promise<DomainRecord[]> {
  const rows = await store.read
    .select()
    .from(domains)
    .where(projectId === undefined ? undefined : eq(domains.projectId, projectId))
    .orderBy(desc(domains.createdAt), desc(domains.id))
  return rows.map((row) => toDomainRecord(row, config))
}
