/** Contacts for tests, written straight into the table. */
import type { Core } from '../../../../src/core/core.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'

type Store = Pick<Core, 'store'>

export type NewContact = {
  email: string
  subscribed?: boolean
  data?: Record<string, unknown>
}

/** Returns the ids in the order of the contacts, which is the order of their numbers. */
export async function addContacts(
  { store }: Store,
  projectId: string,
  given: readonly NewContact[],
): Promise<string[]> {
  const rows = given.map(({ email, subscribed = true, data }) => [
    newId(),
    email,
    Number(subscribed),
    data === undefined ? null : JSON.stringify(data),
  ])
  await store.write((tx) =>
    tx.run(sql`insert into contacts
        (id, project_id, email, subscribed, data, created_at, updated_at)
      select value ->> 0, ${projectId}, value ->> 1, value ->> 2, value ->> 3, 1, 1
      from json_each(${JSON.stringify(rows)})`),
  )
  return rows.map(([id]) => String(id))
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
