/** The list of users, for the operator of the server. */

import { formatInstant } from '../../../../base/clock.ts'
import type { ListedUser } from '../../../../records/user.ts'
import { asc } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { toUserRecord } from '../self/view.ts'

/** Oldest first. */
export async function listUsers({ store }: Pick<Base, 'store'>): Promise<ListedUser[]> {
  const rows = await store.read.select().from(users).orderBy(asc(users.createdAt), asc(users.id))
  return rows.map((row) => {
    const { language: _language, timezone: _timezone, ...user } = toUserRecord(row)
    return { ...user, isSandbox: row.isSandbox, createdAt: formatInstant(row.createdAt) }
  })
}
