/** The upgrade tells accounts whose address somebody proved from those whose address nobody could prove. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../../src/base/log.ts'
import { asc, sql } from '../../../../../src/store/drizzle.ts'
import { users } from '../../../../../src/store/schema/accounts.ts'
import { openStore } from '../../../../../src/store/store.ts'
import type { Tx } from '../../../../../src/store/write/transaction.ts'
import { openBefore } from '../../../../store/open-before.ts'

const AT = 1_700_000_000_000

type Row = {
  name: string
  verifiedAt?: number | null
  method?: string
  language?: string
  updatedAt?: number
  isOperator?: number
  /** Rows of the same instant. */
  session?: boolean
  member?: 'MEMBER' | 'OWNER'
  invitation?: 'mailed' | 'unmailed'
  signup?: { at: number; durationMs: number }
}

async function insert(tx: Tx, row: Row, at: number): Promise<void> {
  const { name: id, verifiedAt = at, method = 'PASSWORD', language = 'en' } = row
  const { updatedAt = at, isOperator = 0 } = row
  const email = `${id}@people.test`
  await tx.run(sql`insert into users
    (id, email, is_sandbox, method, is_operator, verified_at, language, created_at, updated_at)
    values (${id}, ${email}, 0, ${method}, ${isOperator}, ${verifiedAt}, ${language}, ${at}, ${updatedAt})`)
  if (row.session) {
    await tx.run(sql`insert into sessions (id, user_id, created_at, issued_at, last_used_at, expires_at)
      values (${id}, ${id}, ${at}, ${at}, ${at}, ${at})`)
  }
  if (row.member) {
    await tx.run(sql`insert into memberships (user_id, project_id, role, created_at, updated_at)
      values (${id}, 'p', ${row.member}, ${at}, ${at})`)
  }
  if (row.invitation) {
    await tx.run(sql`insert into invitations
      (id, project_id, email, role, invited_by, is_mailed, created_at, expires_at, accepted_at)
      values (${id}, 'p', ${email}, 'MEMBER', 'x', ${row.invitation === 'mailed' ? 1 : 0}, ${at - 9}, ${at}, ${at})`)
  }
  if (row.signup) {
    await tx.run(sql`insert into api_requests
      (id, method, path, status_code, duration_ms, request_size_bytes, response_size_bytes, created_at)
      values (${id}, 'POST', '/auth/signup', 200, ${row.signup.durationMs}, 1, 1, ${at + row.signup.at})`)
  }
}

const PROVEN: Row[] = [
  { name: 'made-by-command' },
  { name: 'made-by-command-and-changed', language: 'de', updatedAt: AT * 2 },
  { name: 'operator', isOperator: 1, session: true },
  { name: 'from-provider', method: 'GITHUB', session: true },
  { name: 'invited-by-mail', session: true, member: 'MEMBER', invitation: 'mailed' },
  { name: 'invited-by-mail-and-removed', session: true, invitation: 'mailed' },
  { name: 'verified-later', verifiedAt: AT * 2, session: true },
  { name: 'beside-a-sign-up', signup: { at: -900, durationMs: 200 } },
]
const UNPROVEN: Row[] = [
  { name: 'signed-up', session: true },
  { name: 'signed-up-and-logged-out', signup: { at: -500, durationMs: 500 } },
  { name: 'signed-up-in-german', language: 'de' },
  { name: 'signed-up-with-mail', verifiedAt: null, session: true },
]
const BOUND: Row[] = [
  { name: 'invited', verifiedAt: null, member: 'MEMBER', invitation: 'unmailed' },
  { name: 'invited-long-ago', verifiedAt: null, member: 'MEMBER' },
  { name: 'invited-and-removed', verifiedAt: null, invitation: 'unmailed' },
]

test('S32: the upgrade keeps proven addresses and marks those that nobody could prove', async (t) => {
  const { before, file } = await openBefore(t, 23)
  await before.write(async (tx) => {
    await tx.run(sql`insert into projects
      (id, name, public_key, secret_digest, secret_hint, created_at, updated_at)
      values ('p', 'Shop', 'pk', 'd', 'h', 1, 1)`)
    // Far apart: each has rows of an instant of its own.
    for (const [index, row] of [...PROVEN, ...UNPROVEN, ...BOUND].entries()) {
      await insert(tx, row, AT + index * 1_000_000)
    }
  })
  await before.close()
  const store = await openStore({ path: file, log: silentLog() })
  t.after(() => store.close())
  const rows = await store.read.select().from(users).orderBy(asc(users.createdAt))
  const namesOf = (isWanted: (row: (typeof rows)[number]) => boolean) =>
    rows.filter(isWanted).map(({ id }) => id)
  const given = (each: Row[]) => each.map(({ name }) => name)
  assert.deepEqual(
    namesOf(({ verifiedAt }) => verifiedAt !== null),
    given(PROVEN),
  )
  assert.deepEqual(
    namesOf(({ onlyProjectId }) => onlyProjectId === 'p'),
    given(BOUND),
  )
})
