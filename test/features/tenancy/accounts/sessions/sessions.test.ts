import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findSession } from '../../../../../src/features/tenancy/accounts/sessions/find.ts'
import {
  insertSession,
  issueCookie,
  renewCookie,
  SESSIONS,
} from '../../../../../src/features/tenancy/accounts/sessions/sessions.ts'
import { desc } from '../../../../../src/store/drizzle.ts'
import { accountTokens, sessions } from '../../../../../src/store/schema/accounts.ts'
import { deleteExpired } from '../../../../../src/work/retention.ts'
import { openTestCore, START, type TestCore } from '../../../../core.ts'
import { addUser } from '../../../../session.ts'

const DAY_MS = 86_400_000
const client = { ip: '192.0.2.7', userAgent: 'test' }

async function begin(core: TestCore) {
  const { id: userId } = await addUser(core)
  const session = await core.store.write((tx) =>
    insertSession(tx, { userId, client, at: core.now() }),
  )
  return issueCookie(core, session)
}

test('a session lasts 7 days after its last renewal and 30 days at most', async (t) => {
  const core = await openTestCore(t)
  let cookie = await begin(core)
  assert.equal(cookie.expiresAt, START + 7 * DAY_MS)
  for (let day = 6; day <= 24; day += 6) {
    core.clock.now = START + day * DAY_MS
    const found = await findSession(core, cookie.token)
    assert.ok(found, `day ${day}`)
    const renewed = await renewCookie(core, found.session)
    assert.ok(renewed)
    assert.equal(renewed.expiresAt, START + Math.min(day + 7, 30) * DAY_MS)
    cookie = renewed
  }
  core.clock.now = START + 30 * DAY_MS - 1000
  const last = await findSession(core, cookie.token)
  assert.ok(last)
  assert.equal(await renewCookie(core, last.session), undefined)
  core.clock.now += 1000
  assert.equal(await findSession(core, cookie.token), undefined)
})

test('a session that nobody uses for 7 days has ended', async (t) => {
  const core = await openTestCore(t)
  const { token } = await begin(core)
  core.clock.now += 7 * DAY_MS - 1
  assert.ok(await findSession(core, token))
  core.clock.now += 1
  assert.equal(await findSession(core, token), undefined)
})

test('a cookie is renewed once a day, and by one of several requests at a time', async (t) => {
  const core = await openTestCore(t)
  const { token } = await begin(core)
  const found = await findSession(core, token)
  assert.ok(found)
  core.clock.now += DAY_MS - 1
  assert.equal(await renewCookie(core, found.session), undefined)
  core.clock.now += 1
  const renewals = await Promise.all(
    Array.from({ length: 20 }, () => renewCookie(core, found.session)),
  )
  assert.equal(renewals.filter((renewal) => renewal !== undefined).length, 1)
  const again = await findSession(core, token)
  assert.ok(again, 'the old cookie goes on until it expires')
  assert.equal(await renewCookie(core, again.session), undefined)
})

test('S16: a user has 500 sessions at most: a new one ends the oldest', async (t) => {
  const core = await openTestCore(t)
  const { id: userId } = await addUser(core)
  const { id: other } = await addUser(core)
  const at = core.now()
  const row = { issuedAt: at, lastUsedAt: at, expiresAt: at + DAY_MS }
  await core.store.write(async (tx) => {
    await tx.insert(sessions).values({ id: 'other', userId: other, createdAt: 0, ...row })
    for (let count = 100; count < 602; count += 1) {
      // Two at a time: ids decide between them.
      const createdAt = Math.floor((count - 100) / 2)
      await tx.insert(sessions).values({ id: `s${count}`, userId, createdAt, ...row })
    }
  })
  // A clock that was set back must not end the new session itself.
  const added = await core.store.write((tx) => insertSession(tx, { userId, client, at: 1 }))
  const left = await core.store.read
    .select({ id: sessions.id })
    .from(sessions)
    .orderBy(desc(sessions.createdAt), desc(sessions.id))
  const expected = Array.from({ length: 499 }, (_, index) => `s${601 - index}`)
  assert.deepEqual(
    left.map(({ id }) => id),
    [...expected, added.id, 'other'],
  )
})

test('expired sessions and tokens are deleted in batches, and others stay', async (t) => {
  const core = await openTestCore(t)
  const { id: userId } = await addUser(core)
  const at = core.now()
  const row = { userId, createdAt: at, issuedAt: at, lastUsedAt: at }
  const token = { userId, purpose: 'verify-email' as const, createdAt: at }
  await core.store.write(async (tx) => {
    for (let count = 0; count < 1_201; count += 1) {
      const expiresAt = count === 0 ? at + 1 : at
      await tx.insert(sessions).values({ id: `s${count}`, ...row, expiresAt })
      await tx.insert(accountTokens).values({ digest: `t${count}`, ...token, expiresAt })
    }
  })
  await deleteExpired(core, SESSIONS)
  const { read } = core.store
  assert.deepEqual(await read.select({ id: sessions.id }).from(sessions), [{ id: 's0' }])
  assert.deepEqual(await read.select({ digest: accountTokens.digest }).from(accountTokens), [
    { digest: 't0' },
  ])
})
