/** A dry run tells what the import of the same file does, and changes nothing. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { suppress } from '../../../../src/features/mail/messages/outcome/suppression.ts'
import { importSuppressions } from '../../../../src/features/mail/suppressions/import-suppressions.ts'
import { importContacts } from '../../../../src/features/people/import-export/import-contacts.ts'
import { recordWish } from '../../../../src/features/people/wishes/wishes.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import { addProject, openTestCore } from '../../../core.ts'
import { subscriptionEvents } from '../contacts/add-recipient.ts'
import { claim, countChunks, importFile, listContacts, uploadFile } from './run-import.ts'

async function setUp(t: TestContext) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await importFile(core, 'email,subscribed\non@dest.test,yes\noff@dest.test,no\n', { projectId })
  for (const address of ['left@dest.test', 'on@dest.test']) {
    await core.store.write((tx) =>
      recordWish(tx, { projectId, address, kind: 'page', at: core.now() }),
    )
  }
  return { core, projectId }
}

const MANY = Array.from({ length: 4_000 }, (_, at) => `p${at % 3_000}@dest.test,${at % 3},x`)
const FILE = [
  'email,subscribed,note',
  'on@dest.test,no,a',
  'off@dest.test,yes,b',
  'left@dest.test,yes,c',
  'left@dest.test,,d',
  'new@dest.test,yes,e',
  'new@dest.test,no,f',
  'new@dest.test,yes,g',
  'nobody,yes,h',
  'on@dest.test,yes,i',
  ...MANY,
].join('\n')

/** Of another service: rows that say who left, and rows with an own column. */
const SOME = Array.from({ length: 900 }, (_, at) => `p${at % 600}@dest.test`)
const FOREIGN = [
  'email,subscribed,unsubscribed_at',
  'on@dest.test,,2024-01-01',
  'on@dest.test,yes,',
  'new@dest.test,,2024-01-01',
  'new@dest.test,yes,',
  'nobody,,2024-01-01',
  ...SOME.map((address, at) => `${address},${at % 3},${at % 5 ? '' : '2024-01-01'}`),
  ...SOME.map((address, at) => `${address},,${at % 2 ? '2024-01-01' : ''}`),
  ...SOME.map((address) => `${address},yes,`),
].join('\n')

for (const resubscribe of [false, true]) {
  test(`a dry run counts who left another service, resubscribe ${resubscribe}`, async (t) => {
    const { core, projectId } = await setUp(t)
    const before = await core.store.read.select().from(wishes).all()
    const dry = await importFile(core, FOREIGN, { projectId, resubscribe, dryRun: true })
    assert.deepEqual(await core.store.read.select().from(wishes).all(), before)
    assert.equal(dry.keptUnsubscribedCount > 300, !resubscribe)
    assert.deepEqual(await importFile(core, FOREIGN, { projectId, resubscribe }), dry)
  })
}

for (const resubscribe of [false, true]) {
  test(`the counts of a dry run are those of the import, resubscribe ${resubscribe}`, async (t) => {
    const { core, projectId } = await setUp(t)
    const before = await listContacts(core, projectId)
    const events = await subscriptionEvents(core)
    const dry = await importFile(core, FILE, { projectId, resubscribe, dryRun: true })
    assert.deepEqual(await listContacts(core, projectId), before)
    assert.deepEqual(await subscriptionEvents(core), events)
    assert.equal(await countChunks(core), 0)
    assert.deepEqual(
      dry.errors.map(({ line }) => line),
      [9],
    )
    assert.ok(dry.subscribedCount > 0 && dry.unsubscribedCount > 0)
    assert.deepEqual(await importFile(core, FILE, { projectId, resubscribe }), dry)
  })
}

test('a dry run that is ended begins again and counts each row once', async (t) => {
  const { core, projectId } = await setUp(t)
  const dry = await importFile(core, FILE, { projectId, dryRun: true })
  await uploadFile(core, FILE, { projectId, dryRun: true })
  const job = await claim(core)
  const store = { ...core.store, write: () => Promise.reject(new Error('dead')) }
  await assert.rejects(importContacts({ ...core, store }, job), /dead/)
  assert.deepEqual(await importContacts(core, job), dry)
})

test('resubscribe alone subscribes no existing contact, and the result says what to add', async (t) => {
  const { core, projectId } = await setUp(t)
  const file = 'email,name\non@dest.test,a\noff@dest.test,b\nleft@dest.test,c\n'
  for (const dryRun of [true, false]) {
    const given = { projectId, resubscribe: true, dryRun }
    const { warnings, subscribedCount } = await importFile(core, file, given)
    assert.equal(subscribedCount, 1, 'the new contact')
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0] ?? '',
      /^1 row is of a contact who is unsubscribed here and will stay so: .+ subscribed=true, or a column/,
    )
  }
  assert.deepEqual((await importFile(core, file, { projectId })).warnings, [])
})

test('resubscribe with subscribed=true subscribes existing contacts and clears wishes', async (t) => {
  const { core, projectId } = await setUp(t)
  await importFile(core, 'email\nleft@dest.test\n', { projectId })
  const file = 'email,status\noff@dest.test,enabled\nleft@dest.test,\nno@dest.test,unsubscribed\n'
  const given = { projectId, resubscribe: true, subscribesKnown: true }
  const dry = await importFile(core, file, { ...given, dryRun: true })
  const done = await importFile(core, file, given)
  assert.deepEqual(done, dry)
  assert.deepEqual(
    [done.subscribedCount, done.unsubscribedCount, done.keptUnsubscribedCount],
    [2, 1, 0],
  )
  const people = await listContacts(core, projectId)
  assert.deepEqual(
    people.filter(({ subscribed }) => subscribed).map(({ address }) => address),
    ['on@dest.test', 'off@dest.test', 'left@dest.test'],
  )
  // What is left: the wish of the contact that stayed, and that of the row.
  assert.equal(await core.store.read.$count(wishes), 2)
})

test('a dry run of suppressions counts and suppresses nobody', async (t) => {
  const { core, projectId } = await setUp(t)
  const old = { projectId, address: 'old@dest.test', reason: 'MANUAL', source: 'test' } as const
  await core.store.write((tx) => suppress(tx, { ...old, emailId: null, at: core.now() }))
  const file = 'email,reason\nold@dest.test,spam\nnew@dest.test,spam\nnew@dest.test,spam\nx,spam\n'
  const run = async (dryRun: boolean) => {
    await uploadFile(core, file, { projectId, kind: 'suppressions-import', dryRun })
    return importSuppressions(core, await claim(core, 'suppressions-import'))
  }
  const dry = await run(true)
  assert.equal(await core.store.read.$count(suppressions), 1)
  assert.deepEqual([dry.addedCount, dry.existingCount, dry.failureCount], [1, 2, 1])
  assert.deepEqual(await run(false), dry)
})

test('who is subscribed stays so, and the result says how to unsubscribe', async (t) => {
  const { core, projectId } = await setUp(t)
  const file = 'email,name\non@dest.test,a\noff@dest.test,b\nnew@dest.test,c\nnew@dest.test,d\n'
  const given = { projectId, subscribed: false }
  for (const dryRun of [true, false]) {
    const { warnings, unsubscribedCount } = await importFile(core, file, { ...given, dryRun })
    assert.equal(unsubscribedCount, 1)
    assert.equal(warnings.length, 1)
    assert.match(
      warnings[0] ?? '',
      /^1 row is of a contact who is subscribed here and will stay so: .+ add a column "subscribed"/,
    )
    assert.match(
      warnings[0] ?? '',
      /If they left, map a column .+ to "unsubscribed", which lasts: .+\. Otherwise, add a column .+ later file .+ again\.$/,
    )
  }
  assert.deepEqual((await importFile(core, file, { projectId })).warnings, [])
  const own = await importFile(core, 'email,subscribed\non@dest.test,no\n', given)
  assert.deepEqual([own.warnings, own.unsubscribedCount], [[], 1])
})
