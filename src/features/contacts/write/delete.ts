/**
 * Deletes contacts with their history: emails and their attempts, events, executions of workflows,
 * memberships. The address may come back as a new contact. A suppression stays, because it belongs
 * to the address.
 */
import { listOf, rowNumber, unindexed } from '../../../store/dialect.ts'
import { sql } from '../../../store/drizzle.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'
import type { Base } from '../../base.ts'
import { contactNotFound } from '../read/view.ts'

type Deps = Pick<Base, 'store'>

/** The tables that may hold many rows of one contact, with the rows that take about 10 ms to delete. */
const LONG = [
  ['emails', 200],
  ['events', 200],
  // With the rows of their steps.
  ['workflow_executions', 50],
] as const

/** Finds each contact by its id, not by the index of the project. */
const isSelected = sql`id in ${listOf(parameter('ids'))}
  and ${unindexed(sql`project_id`)} = ${parameter('projectId')}`

export const deleteByIds = statement(() => sql`delete from contacts where ${isSelected}`)

/** The key of each of these tables is `rowid`. */
export const history = LONG.map(([name, page]) => {
  const rows = sql`from ${sql.raw(name)} where contact_id in
    (select id from contacts where ${isSelected})`
  return {
    hasMore: statement(() => sql`select 1 ${rows} limit 1 offset ${page}`),
    deletePage: statement(
      () =>
        sql`delete from ${sql.raw(name)} where ${rowNumber()} in (select ${rowNumber()} ${rows} limit ${page})`,
    ),
  }
})

/**
 * Deletes the project's contacts among `ids`, with their history. Returns how many there were. A
 * caller that does not know how long the history is calls `deleteLongHistory` first.
 */
export async function deleteContacts(
  tx: Tx,
  projectId: string,
  ids: readonly string[],
): Promise<number> {
  return tx.execute(deleteByIds, { projectId, ids: JSON.stringify(ids) })
}

/**
 * Deletes most of a long history before the contacts themselves are deleted, in short
 * transactions between which other writes run. The rest is short and is deleted with its contact.
 */
export async function deleteLongHistory(
  { store }: Deps,
  chosen: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const values = { projectId: chosen.projectId, ids: JSON.stringify(chosen.ids) }
  for (const { hasMore, deletePage } of history) {
    while ((await store.read.find(hasMore, values)) !== undefined) {
      await store.write((tx) => tx.execute(deletePage, values), { heavyFor: chosen.projectId })
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
