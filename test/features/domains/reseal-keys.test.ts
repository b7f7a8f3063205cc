import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createKeyring } from '../../../src/config/keyring.ts'
import { createDirectory } from '../../../src/features/directory.ts'
import { resealDomainKeys } from '../../../src/features/domains/reseal-keys.ts'
import { addProject, openTestCore, SECRET, trustDomain } from '../../core.ts'

test('signing keys remain usable after a change of the secret', async (t) => {
  const core = await openTestCore(t)
  const { id } = await addProject(core)
  await trustDomain(core, id, 'shop.test')
  await trustDomain(core, id, 'news.test')
  const before = await core.directory.findSenderDomain(id, 'shop.test')
  assert.equal(await resealDomainKeys(core), 0)

  const both = createKeyring('a new secret', SECRET)
  assert.equal(await resealDomainKeys({ store: core.store, keyring: both }), 2)
  assert.equal(await resealDomainKeys({ store: core.store, keyring: both }), 0)
  const keyring = createKeyring('a new secret')
  const after = await createDirectory({ store: core.store, keyring }).findSenderDomain(
    id,
    'shop.test',
  )
  assert.deepEqual(after, before)
})
