/** The list of users, for the operator of the server. */
import { formatInstant } from '../../../../base/clock.ts'
import { asc } from '../../../../store/drizzle.ts'
import { users } from '../../../../store/schema/accounts.ts'
import type { Base } from '../../../ground/base.ts'
import { type SelfView, toSelfView } from '../self/view.ts'

export type UserView = Omit<SelfView, 'language' | 'timezone'> & {
  /** Created by the sandbox; refused in other modes until the user gets a new password. */
  isSandbox: boolean
  createdAt: string
}

/** Oldest first. */
export async function listUsers({ store }: Pick<Base, 'store'>): Promise<UserView[]> {
  const rows = await store.read.select().from(users).orderBy(asc(users.createdAt), asc(users.id))
  return rows.map((row) => {
    const { language: _language, timezone: _timezone, ...view } = toSelfView(row)
    return { ...view, isSandbox: row.isSandbox, createdAt: formatInstant(row.createdAt) }
  })
}
