/**
 * Deletes contacts with their history: emails and their attempts, events, executions of workflows,
 * memberships, and the copies in the sandbox of mail to their addresses. The address may come back as a new contact. A suppression and a wish stay, because they
 * belong to the address. The ids are kept for a while, so that links in older mail still act
 * (`wishes/erased-recipients.ts`).
 */
import { listOf, rowNumber, unindexed } from '../../../../store/dialect.ts'
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import { type SweepPace, sweep } from '../../../../work/sweep.ts'
import type { Base } from '../../../ground/base.ts'
import { insertErasedContacts, insertErasedEmails } from '../../wishes/erased-recipients.ts'
import { contactNotFound } from '../read/find-contact.ts'

type Deps = Pick<Base, 'store' | 'now'>

/**
 * The tables that may hold many rows of one contact, each with the number of rows that can be
 * deleted in about 10 ms.
 */
const LONG_HISTORIES = [
  ['emails', 200],
  ['events', 200],
  // An execution is deleted together with the rows of its steps.
  ['workflow_executions', 50],
] as const

/** Finds each contact by its id, not by the index of the project. */
const isSelected = sql`id in ${listOf(parameter('ids'))}
  and ${unindexed(sql`project_id`)} = ${parameter('projectId')}`

const selected = sql`select id from contacts where ${isSelected}`

const keepContactIds = statement(() => insertErasedContacts(selected))
const keepEmailIds = statement(() =>
  insertErasedEmails(sql`select id from emails where contact_id in (${selected})`),
)

/**
 * A copy has an address and no project, so copies of another project's mail to the address are
 * deleted as well. Only a sandbox has copies, at most `retention.sandbox_messages`.
 */
const deleteSandboxCopies = statement(
  () => sql`delete from sandbox_messages where lower(recipient) in (
    select lower(email) from contacts where ${isSelected})`,
)

export const deleteByIds = statement(() => sql`delete from contacts where ${isSelected}`)

/** The key of each of these tables is `rowid`. */
export const history = LONG_HISTORIES.map(([name, page]) => {
  const rows = sql`from ${sql.raw(name)} where contact_id in (${selected})`
  return {
    page,
    keepIds:
      name === 'emails'
        ? statement(() => insertErasedEmails(sql`select id ${rows} limit ${page}`))
        : undefined,
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
  { ids, at }: { ids: readonly string[]; at: number },
): Promise<number> {
  const values = { projectId, ids: JSON.stringify(ids), at }
  await tx.execute(keepEmailIds, values)
  await tx.execute(keepContactIds, values)
  await tx.execute(deleteSandboxCopies, values)
  return tx.execute(deleteByIds, values)
}

/**
 * Deletes most of a long history before the contacts themselves are deleted, in short
 * transactions between which other writes run. The rest is short and is deleted with its contact.
 */
export async function deleteLongHistory(
  deps: Deps,
  { projectId, ids }: { projectId: string; ids: readonly string[] },
): Promise<void> {
  const values = { projectId, ids: JSON.stringify(ids), at: deps.now() }
  for (const { page, hasMore, keepIds, deletePage } of history) {
    const pace: SweepPace = { rows: page, rest: 'none' }
    const until = async () => (await deps.store.read.find(hasMore, values)) === undefined
    await sweep(deps, { pace, heavyFor: projectId, until }, async (tx) => {
      if (keepIds !== undefined) await tx.execute(keepIds, values)
      return tx.execute(deletePage, values)
    })
  }
}

/** @throws AppError CONTACT_NOT_FOUND, also for another project's */
export async function deleteContact(
  deps: Deps,
  { projectId, id }: { projectId: string; id: string },
): Promise<void> {
  await deleteLongHistory(deps, { projectId, ids: [id] })
  const at = deps.now()
  const deleted = await deps.store.write((tx) => deleteContacts(tx, projectId, { ids: [id], at }))
  if (deleted === 0) throw contactNotFound(id)
}
