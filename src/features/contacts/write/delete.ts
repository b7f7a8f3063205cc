/**
 * A contact goes with its history: emails and their attempts, events, memberships. Its address may
 * come back as a new contact; a suppression of the address stays, for that is about the address.
 */
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { contactNotFound } from '../read/view.ts'

type Deps = Pick<Base, 'store'>

/** Rows of history that one transaction deletes: some 10 ms. */
const PAGE = 200

/** Behind the plus, the project is no way to them: each is found by its id. */
const isMeant = sql`id in (select value from json_each(${parameter('ids')}))
  and +project_id = ${parameter('projectId')}`

export const deleteByIds = statement(() => sql`delete from contacts where ${isMeant}`)

/** What hangs on contacts in numbers; the keys of both tables are `rowid`s. */
export const history = (['emails', 'events'] as const).map((name) => {
  const rows = sql`from ${sql.raw(name)} where contact_id in
    (select id from contacts where ${isMeant})`
  return {
    hasMore: statement(() => sql`select 1 ${rows} limit 1 offset ${PAGE}`),
    deletePage: statement(
      () => sql`delete from ${sql.raw(name)} where rowid in (select rowid ${rows} limit ${PAGE})`,
    ),
  }
})

/**
 * Deletes those of them that are the project's, with all that hangs on them; how many there were.
 * Callers with many ids, or who cannot know how long the history is, call `deleteLongHistory` before.
 */
export async function deleteContacts(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<number> {
  return tx.execute(deleteByIds, { projectId, ids: JSON.stringify(ids) })
}

/**
 * Deletes most of a long history of contacts that are about to go: years of it may hang on one of
 * them, and the writer is not to be kept so long in one piece. A history that is left or found to be
 * short goes with its contact.
 */
export async function deleteLongHistory(
  { store }: Deps,
  target: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const values = { projectId: target.projectId, ids: JSON.stringify(target.ids) }
  for (const { hasMore, deletePage } of history) {
    while ((await store.read.find(hasMore, values)) !== undefined) {
      await store.write((tx) => tx.execute(deletePage, values), { heavyFor: target.projectId })
    }
  }
}

/** @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function deleteContact(
  deps: Deps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await deleteLongHistory(deps, { projectId, ids: [id] })
  const deleted = await deps.store.write((tx) => deleteContacts(tx, projectId, [id]))
  if (deleted === 0) throw contactNotFound(id)
}
