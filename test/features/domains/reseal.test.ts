import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '../../../src/config/keyring.ts'
import { createDirectory } from '../../../src/features/accounts/directory.ts'
import { resealDomainKeys } from '../../../src/features/domains/reseal.ts'
import { addProject, openWorld, trustDomain } from '../world.ts'

test('signing keys outlive the secret that first sealed them', async (t) => {
  const world = await openWorld(t)
  const { id } = await addProject(world)
  await trustDomain(world, id, 'shop.test')
  await trustDomain(world, id, 'news.test')
  const before = await world.directory.findSenderDomain(id, 'shop.test')
  assert.equal(await resealDomainKeys(world), 0)

  const both = createKeyring('a new secret', 'the secret of the tests')
  assert.equal(await resealDomainKeys({ store: world.store, keyring: both }), 2)
  assert.equal(await resealDomainKeys({ store: world.store, keyring: both }), 0)
  const keyring = createKeyring('a new secret')
  const after = await createDirectory({ store: world.store, keyring }).findSenderDomain(
    id,
    'shop.test',
  )
  assert.deepEqual(after, before)
})
