import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  authenticate,
  authenticateKey,
  readKey,
} from '../../../../../src/features/tenancy/accounts/callers/authenticate.ts'
import { regenerateKeys } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import { projects } from '../../../../../src/store/schema/accounts.ts'
import { addProject, openTestCore } from '../../../../core.ts'

test('the secret key of a project opens every route, and the public key those that accept any key', async (t) => {
  const core = await openTestCore(t)
  const one = await addProject(core)
  await addProject(core)
  const bySecret = await authenticate(core, readKey(`Bearer ${one.secret}`), ['secret'])
  assert.equal(bySecret.project.id, one.id)
  assert.equal(bySecret.key, 'secret')
  assert.equal(
    (await authenticate(core, readKey(`bearer  ${one.secret} `), ['secret', 'public'])).key,
    'secret',
  )
  const byPublic = await authenticate(core, readKey(`Bearer ${one.public}`), ['secret', 'public'])
  assert.equal(byPublic.project.id, one.id)
  assert.equal(byPublic.key, 'public')
})

test('a request without "Bearer x" gets MISSING_AUTH', async (t) => {
  const core = await openTestCore(t)
  const { secret } = await addProject(core)
  for (const header of [
    undefined,
    '',
    'Bearer',
    'Bearer ',
    `Basic ${secret}`,
    secret,
    'Bearer a b',
  ]) {
    const call = authenticate(core, readKey(header), ['secret', 'public'])
    await assert.rejects(call, { code: 'MISSING_AUTH', status: 401 }, String(header))
  }
})

test('S25: unknown keys, near misses and a public key on a secret route are INVALID_API_KEY', async (t) => {
  const core = await openTestCore(t)
  const { secret, public: publicKey } = await addProject(core)
  await authenticate(core, readKey(`Bearer ${secret}`), ['secret'])
  const wrong = [
    publicKey,
    `sk_${publicKey.slice(3)}`,
    `pk_${secret.slice(3)}`,
    secret.slice(0, -1),
    `${secret}0`,
    secret.toUpperCase(),
    `sk_${'0'.repeat(64)}`,
    'x'.repeat(100_000),
  ]
  for (const key of wrong) {
    const call = authenticate(core, readKey(`Bearer ${key}`), ['secret'])
    await assert.rejects(call, { code: 'INVALID_API_KEY', status: 401 }, key.slice(0, 80))
  }
  const call = authenticateKey(core, `pk_${secret.slice(3)}`, ['secret', 'public'])
  await assert.rejects(call, { code: 'INVALID_API_KEY' })
})

test('the keys of a disabled project still authenticate', async (t) => {
  const core = await openTestCore(t)
  const { secret } = await addProject(core)
  await core.store.write((tx) => tx.update(projects).set({ isDisabled: true }))
  const { project } = await authenticate(core, readKey(`Bearer ${secret}`), ['secret'])
  assert.equal(project.isDisabled, true)
})

test('keys of the sandbox are refused in other modes until they are renewed', async (t) => {
  const core = await openTestCore(t)
  const { id, secret, public: publicKey } = await addProject(core)
  await core.store.write((tx) => tx.update(projects).set({ areKeysSandbox: true }))
  assert.ok(await authenticate(core, readKey(`Bearer ${secret}`), ['secret']))
  const delivery = { ...core.config.delivery, mode: 'direct' as const }
  const direct = { ...core, config: { ...core.config, delivery } }
  for (const key of [secret, publicKey]) {
    const call = authenticate(direct, readKey(`Bearer ${key}`), ['secret', 'public'])
    await assert.rejects(call, { code: 'INVALID_API_KEY' })
  }
  const renewed = await regenerateKeys(direct, id)
  assert.ok(await authenticate(direct, readKey(`Bearer ${renewed.secret}`), ['secret']))
  assert.ok(await authenticate(direct, readKey(`Bearer ${renewed.public}`), ['secret', 'public']))
})
