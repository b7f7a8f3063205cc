/** Contacts for tests, written straight into the table. */
import type { Core } from '../../../src/features/core.ts'
import { sql } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'

type Store = Pick<Core, 'store'>

type NewContact = {
  email: string
  subscribed?: boolean
  data?: Record<string, unknown>
}

/** Their ids, in the order given, which is the order of their numbers. */
export async function addContacts(
  { store }: Store,
  projectId: string,
  people: readonly NewContact[],
): Promise<string[]> {
  const at = { createdAt: 1, updatedAt: 1 }
  const rows = people.map(({ email, subscribed = true, data = null }) => ({
    ...{ id: newId(), projectId, address: email, subscribed, data },
    ...at,
  }))
  await store.write(async (tx) => {
    for (const row of rows) await tx.insert(contacts).values(row)
  })
  return rows.map(({ id }) => id)
}

/** So many more contacts, all of them subscribed, does a project that pretends to be large count. */
export const PRETENDED = 1_000_000

/** Makes the search take a project for one that is too large to look at every address. */
export async function pretendLarge({ store }: Store, projectId: string): Promise<void> {
  await store.write((tx) =>
    tx.run(sql`update projects set contact_count = contact_count + ${PRETENDED},
      subscribed_count = subscribed_count + ${PRETENDED} where id = ${projectId}`),
  )
}

export async function countBacklog({ store }: Store): Promise<number> {
  const [[count] = []] = await store.read.values<[number]>(
    sql`select count(*) from contact_search_backlog`,
  )
  return count ?? 0
}
