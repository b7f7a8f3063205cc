/** The wishes of before the upgrade, and the key of the digests. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import { createKeyring } from '../../../../src/config/keyring.ts'
import { resealAll } from '../../../../src/features/operation/seals/seals.ts'
import {
  keyBatch,
  keyOlderWishes,
  loadAddressKey,
} from '../../../../src/features/people/wishes/address-digests.ts'
import { hasLeft } from '../../../../src/features/people/wishes/wishes.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { instanceKeys, unkeyedWishes, wishes } from '../../../../src/store/schema/wishes.ts'
import { openStore, type Store } from '../../../../src/store/store.ts'
import type { Tx } from '../../../../src/store/write/transaction.ts'
import { openTestCore, SECRET, START } from '../../../core.ts'
import { openBefore } from '../../../store/open-before.ts'

type Contact = { id: string; email: string; subscribed?: 0 | 1 }

const now = () => START

async function addContact(tx: Tx, { id, email, subscribed = 0 }: Contact): Promise<void> {
  await tx.run(sql`insert into contacts (id, project_id, email, subscribed, created_at, updated_at)
    values (${id}, 'p', ${email}, ${subscribed}, 1, 1)`)
}

async function addEmail(
  tx: Tx,
  email: { id: string; contactId: string; to: string; execution?: string; variables?: string },
): Promise<void> {
  const { id, contactId, to, execution = null, variables = null } = email
  await tx.run(sql`insert into emails (id, project_id, contact_id, content_id, source_type, recipient,
      recipient_domain, from_address, subject, content_class, is_tracked, message_id, state, status,
      queue_class, give_up_at, created_at, updated_at, workflow_execution_id, variables)
    values (${id}, 'p', ${contactId}, 'none', 'CAMPAIGN', ${to}, 'x.test', 'a@shop.test', 'Hi',
      'MARKETING', 1, ${id}, 'delivered', 'DELIVERED', 1, 1, 1, 1, ${execution}, ${variables})`)
}

async function addEvent(
  tx: Tx,
  event: { name?: string; contactId: string; reason: string; emailId?: string },
): Promise<void> {
  const { name = 'contact.unsubscribed', contactId, reason, emailId = null } = event
  await tx.run(sql`insert into events (id, project_id, name, contact_id, email_id, data, created_at)
    values (${`${contactId} ${reason} ${name}`}, 'p', ${name}, ${contactId}, ${emailId},
      ${JSON.stringify({ reason })}, 7)`)
}

async function suppress(
  tx: Tx,
  row: { email: string; reason: string; later?: string; wishedAt?: number },
): Promise<void> {
  const { email, reason, later = null, wishedAt = null } = row
  await tx.run(sql`insert into suppressions (id, project_id, email, reason, source, created_at,
      later_reason, wished_at)
    values (${email}, 'p', ${email}, ${reason}, 's', 3, ${later}, ${wishedAt})`)
}

async function fill(tx: Tx): Promise<void> {
  await tx.run(sql`insert into users (id, email, password_hash, is_sandbox, created_at, updated_at)
    values ('u', 'u@x.test', '', 0, 1, 1)`)
  await tx.run(sql`insert into projects (id, name, public_key, secret_digest, secret_hint, created_at,
    updated_at) values ('p', 'P', 'pk', 'sk', '', 1, 1)`)
  for (const reason of ['page', 'one-click', 'mail', 'complaint', 'manual', 'import', 'bounce']) {
    await addContact(tx, { id: reason, email: `${reason}@x.test` })
    await addEvent(tx, { contactId: reason, reason })
  }
  await addContact(tx, { id: 'called', email: 'called@x.test' })
  await addEmail(tx, { id: 'e-called', contactId: 'called', to: 'called@x.test' })
  await addEvent(tx, { contactId: 'called', reason: 'api', emailId: 'e-called' })
  await addContact(tx, { id: 'project', email: 'project@x.test' })
  await addEvent(tx, { contactId: 'project', reason: 'api' })
  // Came back, and was unsubscribed by the project then.
  await addContact(tx, { id: 'back', email: 'back@x.test' })
  await addEvent(tx, { contactId: 'back', reason: 'page' })
  await addEvent(tx, { name: 'contact.subscribed', contactId: 'back', reason: 'page' })
  await addEvent(tx, { contactId: 'back', reason: 'manual' })
  await addContact(tx, { id: 'on', email: 'on@x.test', subscribed: 1 })
  await addEvent(tx, { contactId: 'on', reason: 'page' })
  // The address changed since the mail.
  await addContact(tx, { id: 'moved', email: 'new@x.test' })
  await addEmail(tx, { id: 'e-moved', contactId: 'moved', to: 'old@x.test' })
  await addEvent(tx, { contactId: 'moved', reason: 'one-click', emailId: 'e-moved' })
  // A colleague left by the link of a workflow's mail about a contact.
  await addContact(tx, { id: 'about', email: 'about@x.test' })
  const variables = '{"reader":{"id":"about","email":"about@x.test","subscribed":true}}'
  const mail = { id: 'e-about', contactId: 'about', to: 'sales@x.test' }
  await addEmail(tx, { ...mail, execution: 'x', variables })
  await addEvent(tx, { contactId: 'about', reason: 'one-click', emailId: 'e-about' })
  await suppress(tx, { email: 'spam@x.test', reason: 'COMPLAINT' })
  await suppress(tx, { email: 'later@x.test', reason: 'HARD_BOUNCE', later: 'COMPLAINT' })
  await suppress(tx, { email: 'wished@x.test', reason: 'STRIKES', wishedAt: 5 })
  await suppress(tx, { email: 'bounced@x.test', reason: 'HARD_BOUNCE' })
}

const EXPECTED = [
  ...[
    'called api 7',
    'complaint complaint 7',
    'later complaint 3',
    'mail mail 7',
    'new one-click 7',
  ],
  ...['old one-click 7', 'one-click one-click 7', 'page page 7', 'sales one-click 7'],
  ...['spam complaint 3', 'wished unknown 5'],
]

async function listKept(store: Store): Promise<string[]> {
  const rows = await store.read.select().from(unkeyedWishes).orderBy(unkeyedWishes.address)
  return rows.map(({ address, kind, at }) => `${address.replace('@x.test', '')} ${kind} ${at}`)
}

async function openUpgraded(t: Parameters<typeof openBefore>[0]) {
  const { before, file } = await openBefore(t, 25)
  await before.write(fill)
  await before.close()
  const keyring = createKeyring(SECRET)
  const { addressDigest } = keyring
  const store = await openStore({ path: file, log: silentLog(), addressDigest, watch: false })
  t.after(() => store.close())
  return { store, keyring, file }
}

test('the upgrade collects who left, by the address of the mail and of the contact', async (t) => {
  const { store } = await openUpgraded(t)
  assert.deepEqual(await listKept(store), EXPECTED)
})

test('the start moves them to digests, whole or again after a crash between its batches', async (t) => {
  const { store, keyring } = await openUpgraded(t)
  await loadAddressKey({ store, keyring, now })
  const key = await store.read.select().from(instanceKeys)
  // A crash in the middle of a batch leaves what it found; one behind it is done with the batch.
  const crash = store.write(async (tx) => {
    await tx.execute(keyBatch)
    throw new Error('crash')
  })
  await assert.rejects(crash, /crash/)
  assert.equal(await store.read.$count(wishes), 0)
  await store.write((tx) => tx.execute(keyBatch))
  assert.equal(await keyOlderWishes({ store }), EXPECTED.length)
  assert.equal(await store.read.$count(unkeyedWishes), 0)
  assert.equal(await store.read.$count(wishes), EXPECTED.length)
  assert.equal(await keyOlderWishes({ store }), 0)
  await loadAddressKey({ store, keyring, now })
  assert.deepEqual(await store.read.select().from(instanceKeys), key)
  for (const address of ['page@x.test', 'old@x.test', 'new@x.test', 'sales@x.test']) {
    assert.equal(await store.write((tx) => hasLeft(tx, { projectId: 'p', address })), true)
  }
  for (const address of ['about@x.test', 'back@x.test', 'on@x.test', 'bounced@x.test']) {
    assert.equal(await store.write((tx) => hasLeft(tx, { projectId: 'p', address })), false)
  }
})

test('projects of before keep what the public key may do, and new ones begin without', async (t) => {
  const { store } = await openUpgraded(t)
  const may = sql`select public_key_may_update as may from projects`
  assert.deepEqual(await store.read.all(may), [{ may: 1 }])
})

test('the key of the digests outlives a change of the secret', async (t) => {
  const core = await openTestCore(t)
  const digest = core.keyring.addressDigest('p', 'ada@x.test')
  assert.equal(digest.length, 10)
  const [before] = await core.store.read.select().from(instanceKeys)
  const newer = createKeyring('another secret, which is long enough too', SECRET)
  assert.equal(await resealAll({ ...core, keyring: newer }), 1)
  const [after] = await core.store.read.select().from(instanceKeys)
  assert.notEqual(after?.sealed, before?.sealed)
  const alone = createKeyring('another secret, which is long enough too')
  await loadAddressKey({ store: core.store, keyring: alone, now })
  assert.deepEqual(alone.addressDigest('p', 'ada@x.test'), digest)
})

test('digests differ by project and address, and no digest can be made without the key', async (t) => {
  const core = await openTestCore(t)
  const { addressDigest, addressUuid } = core.keyring
  const texts = [
    addressDigest('p', 'a@x.test'),
    addressDigest('q', 'a@x.test'),
    addressDigest('p', 'b@x.test'),
  ].map((each) => each.toString('hex'))
  assert.equal(new Set(texts).size, 3)
  assert.match(
    addressUuid('p', 'a@x.test'),
    /^[\da-f]{8}-[\da-f]{4}-8[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/,
  )
  assert.throws(() => createKeyring(SECRET).addressDigest('p', 'a@x.test'), TypeError)
})
