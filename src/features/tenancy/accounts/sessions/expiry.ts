/** Deletes sessions and tokens of mailed links that have expired. */
import { sql } from '../../../../store/drizzle.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Base } from '../../../ground/base.ts'

/** So few that a request waits some milliseconds for them. */
const BATCH = 500

const deleteSessions = statement(
  () => sql`delete from sessions where id in
    (select id from sessions where expires_at <= ${parameter('at')} limit ${BATCH})`,
)

const deleteTokens = statement(
  () => sql`delete from account_tokens where digest in
    (select digest from account_tokens where expires_at <= ${parameter('at')} limit ${BATCH})`,
)

export async function deleteExpiredSessions(
  { store, now }: Pick<Base, 'store' | 'now'>,
  signal?: AbortSignal,
): Promise<void> {
  for (const statement of [deleteSessions, deleteTokens]) {
    let deleted: number
    do {
      signal?.throwIfAborted()
      deleted = await store.write((tx) => tx.execute(statement, { at: now() }))
    } while (deleted === BATCH)
  }
}
