import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  hashPassword,
  isPassword,
} from '../../../../../src/features/tenancy/accounts/passwords/passwords.ts'
import {
  listUsers,
  setPassword,
} from '../../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { createUser } from '../../../../../src/features/tenancy/accounts/users/users.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { users } from '../../../../../src/store/schema/accounts.ts'
import { openTestCore, START, type TestCore } from '../../../../core.ts'

const rowOf = async ({ store }: TestCore, email: string) => {
  const row = await store.read.select().from(users).where(eq(users.address, email)).get()
  assert.ok(row)
  return row
}

test('a user is stored under the canonical address with an argon2id hash', async (t) => {
  const core = await openTestCore(t)
  const user = await createUser(core, { address: ' Ada@EXAMPLE.test ', password: 'hunter22' })
  assert.deepEqual(Object.keys(user), ['id', 'email'])
  assert.equal(user.email, 'ada@example.test')
  const row = await rowOf(core, 'ada@example.test')
  assert.match(row.passwordHash ?? '', /^\$argon2id\$v=19\$m=7168,t=5,p=1\$[\w+/]{22}\$[\w+/]{43}$/)
  assert.equal(await isPassword('hunter22', row.passwordHash ?? ''), true)
  assert.equal(await isPassword('hunter23', row.passwordHash ?? ''), false)
  assert.equal(row.isSandbox, false)
})

test('a password is generated when none is given, and shown once', async (t) => {
  const core = await openTestCore(t)
  const made = await createUser(core, { address: 'ada@example.test' })
  assert.match(made.password ?? '', /^[\w-]{20}$/)
  const row = await rowOf(core, 'ada@example.test')
  assert.equal(await isPassword(made.password ?? '', row.passwordHash ?? ''), true)
  assert.doesNotMatch(JSON.stringify(await listUsers(core)), /argon2|password/)
})

test('passwords that are too short or too long and invalid addresses are refused', async (t) => {
  const core = await openTestCore(t)
  const refused = async (input: { address: string; password?: string }, field: string) =>
    assert.rejects(createUser(core, input), (error: { fields?: { field: string }[] }) => {
      assert.equal(error.fields?.[0]?.field, field)
      return true
    })
  await refused({ address: 'ada@example.test', password: '12345' }, 'password')
  await refused({ address: 'ada@example.test', password: 'x'.repeat(1001) }, 'password')
  await refused({ address: 'ada', password: '123456' }, 'email')
  await refused({ address: 'a@x.test, b@x.test', password: '123456' }, 'email')
  assert.deepEqual(await listUsers(core), [])
  await createUser(core, { address: 'ada@example.test', password: '123456' })
})

test('an address can have one user, however it is spelled, and the password stays', async (t) => {
  const core = await openTestCore(t)
  await createUser(core, { address: 'ada@example.test', password: 'first one' })
  await assert.rejects(createUser(core, { address: 'ADA@example.test', password: 'second one' }), {
    code: 'CONFLICT',
  })
  const row = await rowOf(core, 'ada@example.test')
  assert.equal(await isPassword('first one', row.passwordHash ?? ''), true)
  assert.equal((await listUsers(core)).length, 1)
})

test('a new password removes the mark of the sandbox from a user', async (t) => {
  const core = await openTestCore(t)
  await createUser(core, { address: 'ada@example.test', password: 'first one' })
  await core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
  const { password } = await setPassword(core, { address: 'ada@example.test' })
  const row = await rowOf(core, 'ada@example.test')
  assert.equal(row.isSandbox, false)
  assert.equal(await isPassword(password ?? '', row.passwordHash ?? ''), true)
  assert.equal(await isPassword('first one', row.passwordHash ?? ''), false)
  await assert.rejects(setPassword(core, { address: 'bob@example.test' }), {
    code: 'RESOURCE_NOT_FOUND',
  })
})

test('users are listed oldest first', async (t) => {
  const core = await openTestCore(t)
  await createUser(core, { address: 'b@example.test', password: '123456' })
  core.clock.now += 1
  await createUser(core, { address: 'a@example.test', password: '123456' })
  const [first, second] = await listUsers(core)
  assert.equal(first?.email, 'b@example.test')
  assert.equal(first?.createdAt, new Date(START).toISOString())
  assert.equal(second?.email, 'a@example.test')
})

test('a password matches in composed and decomposed Unicode, and two hashes of it differ', async () => {
  const hash = await hashPassword('p\u00e4ssword')
  assert.equal(await isPassword('pa\u0308ssword', hash), true)
  assert.notEqual(await hashPassword('p\u00e4ssword'), hash)
  await assert.rejects(isPassword('x', 'plain'), TypeError)
})
