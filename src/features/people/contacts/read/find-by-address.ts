/** Finds the contacts of an address in all projects. */
import { indexedBy, orderedJoin } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

export type ContactOfAddress = { projectId: string; projectName: string; subscribed: boolean }

/** Searches each project's part of the index on project and address. */
export const listContactsOfAddress = statement<{
  projectId: string
  projectName: string
  subscribed: number
}>(
  () => sql`select projects.id as "projectId", projects.name as "projectName", contacts.subscribed
    from projects
    ${orderedJoin()} contacts ${indexedBy('contacts_address')} on contacts.project_id = projects.id
      and contacts.email = ${parameter('address')}
    where projects.deleted_at is null
    order by projects.name, projects.id`,
)

/** `address`: in the form of `ParsedAddress.address`. By the names of the projects. */
export async function findByAddress(
  { store }: Pick<Base, 'store'>,
  address: string,
): Promise<ContactOfAddress[]> {
  const rows = await store.scan.list(listContactsOfAddress, { address })
  return rows.map((row) => ({ ...row, subscribed: row.subscribed === 1 }))
}
