/**
 * The contacts of a bulk job: the contacts that exist when the job begins. Numbers follow the order
 * of creation, so the job takes contacts up to the newest number at its start, and passes over
 * those that are deleted before their batch is written.
 */
import { listOf, unindexed } from '../../../../store/dialect.ts'
import { max, sql } from '../../../../store/drizzle.ts'
import { contacts } from '../../../../store/schema/contacts.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import type { NumberedContact } from '../list/row.ts'
import type { ContactScope } from '../list/scope.ts'
import { walkPages } from '../list/walk.ts'

type Deps = Pick<Base, 'store'>

/** Finds each contact by its id, not by the index of the project. */
export const selectExisting = statement<{ id: string }>(
  () => sql`select id from contacts where ${unindexed(sql`project_id`)} = ${parameter('projectId')}
    and id in ${listOf(parameter('ids'))}`,
)

/** The number of the newest contact of all projects; 0 if there are no contacts. */
export async function findNewestNumber({ store }: Deps): Promise<number> {
  const row = await store.read
    .select({ last: max(contacts.number) })
    .from(contacts)
    .get()
  return row?.last ?? 0
}

/** Yields the contacts of the scope behind `after` and up to `last`, page by page; pages may be empty. */
export async function* walkExisting(
  deps: Deps,
  scope: ContactScope,
  { after, last }: { after: number; last: number },
): AsyncGenerator<NumberedContact[]> {
  for await (const { contacts: page, upTo } of walkPages(deps, scope, { after })) {
    yield page.filter(({ number }) => number <= last)
    if ((upTo ?? last) >= last) return
  }
}

/** The ids of the project's contacts among `ids`. */
export async function findExisting(
  tx: Tx,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<Set<string>> {
  const rows = await tx.list(selectExisting, { projectId, ids: JSON.stringify(ids) })
  return new Set(rows.map(({ id }) => id))
}
