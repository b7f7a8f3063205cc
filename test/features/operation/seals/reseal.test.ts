/** Counts include the key of address digests, which every database has. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '../../../../src/config/keyring.ts'
import { createDirectory } from '../../../../src/features/ground/directory.ts'
import { resealAll } from '../../../../src/features/operation/seals/seals.ts'
import {
  createEndpoint,
  rotateEndpointSecret,
} from '../../../../src/features/outreach/webhooks/endpoints/edit-endpoint.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { users } from '../../../../src/store/schema/accounts.ts'
import { webhookEndpoints } from '../../../../src/store/schema/webhooks.ts'
import { addProject, openTestCore, SECRET, trustDomain } from '../../../core.ts'
import { addUser } from '../../../session.ts'

test('signing keys remain usable after a change of the secret', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addProject(core)
  await trustDomain(core, id, 'shop.test')
  await trustDomain(core, id, 'news.test')
  const before = await core.directory.findSenderDomain(id, 'shop.test')
  assert.equal(await resealAll(core), 0)

  const both = createKeyring('a new secret', SECRET)
  assert.equal(await resealAll({ ...core, keyring: both }), 3)
  assert.equal(await resealAll({ ...core, keyring: both }), 0)
  const keyring = createKeyring('a new secret')
  const after = await createDirectory({ store: core.store, keyring }).findSenderDomain(
    id,
    'shop.test',
  )
  assert.deepEqual(after, before)
})

test('the secrets of second factors remain usable after a change of the secret', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addUser(core, { totpSecret: core.keyring.seal('JBSWY3DPEHPK3PXP') })
  await addUser(core)
  const both = createKeyring('a new secret', SECRET)
  assert.equal(await resealAll({ ...core, keyring: both }), 2)
  const row = await core.store.read.select().from(users).where(eq(users.id, id)).get()
  assert.equal(createKeyring('a new secret').unseal(row?.totpSecret ?? ''), 'JBSWY3DPEHPK3PXP')
})

test('a column that changes while it is sealed again keeps its new value', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addUser(core, { totpSecret: core.keyring.seal('JBSWY3DPEHPK3PXP') })
  const both = createKeyring('a new secret', SECRET)
  const fresh = both.seal('GEZDGNBVGY3TQOJQ')
  const keyring = {
    reseal: (sealed: string) => {
      // The write of another process comes between the reading and the writing.
      void core.store.write((tx) =>
        tx.update(users).set({ totpSecret: fresh }).where(eq(users.id, id)),
      )
      return both.reseal(sealed)
    },
  } as unknown as typeof both
  await resealAll({ ...core, keyring })
  const row = await core.store.read.select().from(users).where(eq(users.id, id)).get()
  assert.equal(row?.totpSecret, fresh)
})

test('a secret that is rotated while it is sealed again is sealed where it stands then', async (t) => {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  const { id, secret: first } = await createEndpoint(core, {
    ...{ projectId, url: 'https://hooks.example.test/', events: ['*'] },
  })
  const both = createKeyring('a new secret', SECRET)
  let second = ''
  const rotateOnce = async () => {
    if (second !== '') return
    second = 'begun'
    second = (await rotateEndpointSecret({ ...core, keyring: both }, { projectId, id })).secret
  }
  const write: typeof core.store.write = async (act, options) => {
    await rotateOnce()
    return core.store.write(act, options)
  }
  const store = { ...core.store, write }
  assert.equal(await resealAll({ ...core, store, keyring: both }), 2)
  assert.notEqual(second, '')
  const [row] = await core.store.read.select().from(webhookEndpoints)
  const keyring = createKeyring('a new secret')
  assert.deepEqual(
    [keyring.unseal(row?.secret ?? ''), keyring.unseal(row?.previousSecret ?? '')],
    [second, first],
  )
})

test('a row that is deleted while it is sealed again is no error', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addUser(core, { totpSecret: core.keyring.seal('JBSWY3DPEHPK3PXP') })
  const write: typeof core.store.write = async (act, options) => {
    await core.store.write((tx) => tx.delete(users).where(eq(users.id, id)))
    return core.store.write(act, options)
  }
  const keyring = createKeyring('a new secret', SECRET)
  assert.equal(await resealAll({ ...core, store: { ...core.store, write }, keyring }), 1)
})
