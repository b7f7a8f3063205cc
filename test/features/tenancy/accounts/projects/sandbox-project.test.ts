import assert from 'node:assert/strict'
import { test } from 'node:test'
import { authenticateKey } from '../../../../../src/features/tenancy/accounts/callers/authenticate.ts'
import { regenerateKeys } from '../../../../../src/features/tenancy/accounts/projects/projects.ts'
import {
  prepareSandbox,
  sandboxLeftovers,
} from '../../../../../src/features/tenancy/accounts/projects/sandbox-project.ts'
import { setPassword } from '../../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { createUser } from '../../../../../src/features/tenancy/accounts/users/users.ts'
import { projects, users } from '../../../../../src/store/schema/accounts.ts'
import { domains } from '../../../../../src/store/schema/domains.ts'
import { openTestCore, type TestCore } from '../../../../core.ts'

const countAll = async ({ store }: TestCore) => [
  await store.read.$count(users),
  await store.read.$count(projects),
  await store.read.$count(domains),
]

test('the first start creates a user, a project and a trusted domain, and shows the secrets once', async (t) => {
  const core = await openTestCore(t)
  const welcome = await prepareSandbox(core)
  assert.ok(welcome?.kind === 'created')
  assert.equal(welcome.domain, 'example.test')
  const { project } = await authenticateKey(core, welcome.keys.secret, ['secret'])
  assert.equal(project.id, welcome.project.id)
  const sender = await core.directory.findSenderDomain(project.id, 'example.test')
  assert.equal(sender?.signingKeys.length, 2)

  const again = await prepareSandbox(core)
  assert.deepEqual(again, {
    kind: 'existing',
    domain: 'example.test',
    project: welcome.project,
  })
  assert.deepEqual(await countAll(core), [1, 1, 1])
})

test('rows of the sandbox are marked until their credentials are renewed', async (t) => {
  const core = await openTestCore(t)
  assert.deepEqual(await sandboxLeftovers(core), { users: [], projects: [] })
  const welcome = await prepareSandbox(core)
  assert.ok(welcome?.kind === 'created')
  const left = await sandboxLeftovers(core)
  assert.equal(left.users[0]?.address, welcome.user.address)
  assert.deepEqual(left.projects, [welcome.project])
  await setPassword(core, { address: welcome.user.address })
  await regenerateKeys(core, welcome.project.id)
  assert.deepEqual(await sandboxLeftovers(core), { users: [], projects: [] })
  assert.equal((await prepareSandbox(core))?.kind, 'existing')
})

test('nothing is created in other modes, on a public address, or in a database in use', async (t) => {
  const direct = await openTestCore(t, { settings: { PILLARBOX_DELIVERY__MODE: 'direct' } })
  assert.equal(await prepareSandbox(direct), null)
  assert.deepEqual(await countAll(direct), [0, 0, 0])

  const open = await openTestCore(t, { settings: { PILLARBOX_HTTP__LISTEN: '0.0.0.0:8080' } })
  assert.equal(await prepareSandbox(open), null)
  assert.deepEqual(await countAll(open), [0, 0, 0])

  const used = await openTestCore(t)
  await createUser(used, { address: 'ada@people.test', password: '123456' })
  assert.equal(await prepareSandbox(used), null)
  assert.deepEqual(await countAll(used), [1, 0, 0])
})

test('two simultaneous starts create one sandbox', async (t) => {
  const core = await openTestCore(t)
  const welcomes = await Promise.all([prepareSandbox(core), prepareSandbox(core)])
  assert.deepEqual(welcomes.map((welcome) => welcome?.kind).sort(), ['created', 'existing'])
  assert.deepEqual(await countAll(core), [1, 1, 1])
})
