/** Which write wins against the wish of a person who left: of every way to leave, every write. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { suppress } from '../../../../src/features/mail/messages/outcome/suppression.ts'
import { resetProject } from '../../../../src/features/operation/erasure/end-project.ts'
import { deleteContact } from '../../../../src/features/people/contacts/write/delete.ts'
import { setSubscribed } from '../../../../src/features/people/contacts/write/set-subscribed.ts'
import { changeSubscription } from '../../../../src/features/people/contacts/write/subscription-request.ts'
import { updateContact } from '../../../../src/features/people/contacts/write/update.ts'
import { suppressions } from '../../../../src/store/schema/suppressions.ts'
import { wishes } from '../../../../src/store/schema/wishes.ts'
import { address } from '../../../core.ts'
import { openSender, type Sender } from '../../mail/messages/sender.ts'
import { work } from '../../operation/erasure/work.ts'
import { importFile } from '../import-export/run-import.ts'
import { addPerson, DEFAULTS, isSubscribed, LEAVING, NEW_WISHES, type Person } from './ways.ts'

const countWishes = ({ core }: Sender) => core.store.read.$count(wishes)

/** What became of the contact before the write. */
const AFTERWARDS: Record<string, (sender: Sender, person: Person) => Promise<unknown>> = {
  'still there': async () => undefined,
  deleted: ({ core, project }, { contactId }) =>
    deleteContact(core, { projectId: project.id, id: contactId }),
}

const keeping = Object.values(DEFAULTS)

for (const [way, [how, leave]] of Object.entries(LEAVING).entries()) {
  for (const [place, [state, afterwards]] of Object.entries(AFTERWARDS).entries()) {
    test(`no default subscribes who left: ${how}, contact ${state}`, async (t) => {
      const sender = await openSender(t)
      for (const [index, [what, write]] of Object.entries(DEFAULTS).entries()) {
        const person = await addPerson(sender, `p${index}@dest.test`)
        await leave(sender, person)
        assert.equal(await isSubscribed(sender, person.email), false, what)
        await afterwards(sender, person)
        await write(sender, person)
        assert.notEqual(await isSubscribed(sender, person.email), true, what)
      }
    })

    test(`a new wish subscribes, and defaults keep it: ${how}, contact ${state}`, async (t) => {
      const sender = await openSender(t)
      for (const [index, [what, write]] of Object.entries(NEW_WISHES).entries()) {
        const person = await addPerson(sender, `p${index}@dest.test`)
        await leave(sender, person)
        assert.equal(await countWishes(sender), 1, what)
        await afterwards(sender, person)
        await write(sender, person)
        assert.equal(await isSubscribed(sender, person.email), true, what)
        assert.equal(await countWishes(sender), 0, what)
        // In turn: each default follows each wish, and each way to leave.
        const turn = 3 * (2 * way + place) + index
        await keeping[turn % keeping.length]?.(sender, person)
        assert.equal(await isSubscribed(sender, person.email), true, what)
      }
    })
  }
}

test("whatever subscribes an address ends the project's own decision about it", async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  for (const [index, [what, write]] of Object.entries({ ...DEFAULTS, ...NEW_WISHES }).entries()) {
    for (const [state, afterwards] of Object.entries(AFTERWARDS)) {
      const name = `${what}, contact ${state}`
      const person = await addPerson(sender, `p${index}${state.at(0)}@dest.test`)
      const { contactId: id, email, emailId } = person
      const key = { projectId: project.id, address: email }
      const bounce = {
        ...key,
        reason: 'HARD_BOUNCE',
        source: '550',
        emailId,
        at: core.now(),
      } as const
      await core.store.write(async (tx) => {
        await suppress(tx, bounce)
        const change = { subscribed: false, reason: 'bounce', emailId, at: core.now() } as const
        await setSubscribed(tx, id, change)
      })
      await updateContact(core, { projectId: project.id, id }, { subscribed: false })
      const row = await core.store.read.select().from(wishes).get()
      assert.equal(row?.kind, 'project', name)
      await core.store.write((tx) => tx.delete(suppressions).run())
      await afterwards(sender, person)
      await write(sender, person)
      const isOn = (await isSubscribed(sender, email)) === true
      if (Object.hasOwn(NEW_WISHES, what)) assert.equal(isOn, true, name)
      assert.equal(await countWishes(sender), isOn ? 0 : 1, name)
      await core.store.write((tx) => tx.delete(wishes).run())
    }
  }
})

test('every file that writes contacts or their subscription is among the ways', () => {
  const root = path.join(import.meta.dirname, '../../../../src/features')
  const writes =
    /\b(upsertContacts?|upsertValidContacts|writeContact|setSubscribed|insertContacts?)\(/
  const files = globSync('**/*.ts', { cwd: root })
    .map((file) => file.replaceAll(path.sep, '/'))
    .filter((file) => writes.test(readFileSync(path.join(root, file), 'utf8')))
    .map((file) => file.replace(/^\w+\//, '').replace(/\.ts$/, ''))
  const tried = new Set(Object.keys(DEFAULTS).map((key) => key.split(':')[0]))
  const others = [
    // The parts of the ways.
    'contacts/write/insert-contacts',
    'contacts/write/set-subscribed',
    'contacts/write/upsert',
    'contacts/write/subscription-request',
    'import-export/export-contacts',
    // They only unsubscribe.
    'contacts/write/unsubscribe-addresses',
    'messages/outcome/record-reports',
    // Takes nobody who left, and changes nobody's state: `accept-together.test.ts`.
    'contacts/write/contact-batch',
    // New senders are unsubscribed, and known ones keep their state.
    'receiving/process/deliver-to-mailbox',
    // Asks for wishes of its own: `messages/outcome/fuse.test.ts`.
    'suppressions/undo-suppressions',
  ]
  assert.deepEqual(
    files.filter((file) => !tried.has(file) && !others.includes(file)),
    [],
  )
})

test('a wish outlives a reset, and other spellings of the address are the same address', async (t) => {
  const sender = await openSender(t)
  const { core, project } = sender
  const person = await addPerson(sender, 'Ada@bücher.test')
  await LEAVING.page?.(sender, person)
  await resetProject(core, project.id)
  await work(core)
  const spelled = address('ADA@XN--BCHER-KVA.test').address
  assert.equal(spelled, person.email)
  const csv = 'email,subscribed\nADA@XN--BCHER-KVA.TEST,true\nbob@dest.test,true\n'
  const result = await importFile(core, csv, { projectId: project.id })
  const { createdCount, keptUnsubscribedCount } = result
  assert.deepEqual([createdCount, keptUnsubscribedCount], [2, 1])
  assert.equal(await isSubscribed(sender, person.email), false)
  assert.equal(await isSubscribed(sender, 'bob@dest.test'), true)
})

test('a wish is for one project', async (t) => {
  const sender = await openSender(t)
  const person = await addPerson(sender, 'ada@dest.test')
  await LEAVING.page?.(sender, person)
  const { addProject } = await import('../../../core.ts')
  const other = await addProject(sender.core, 'Other')
  const csv = 'email,subscribed\nada@dest.test,true\n'
  const result = await importFile(sender.core, csv, { projectId: other.id })
  assert.equal(result.keptUnsubscribedCount, 0)
  assert.equal(await countWishes(sender), 1)
})

test('who subscribes again on a page has no wish any more', async (t) => {
  const sender = await openSender(t)
  const { contactId, emailId, email } = await addPerson(sender, 'ada@dest.test')
  const link = { contactId, emailId }
  await changeSubscription(sender.core, link, { subscribed: false, reason: 'one-click' })
  await changeSubscription(sender.core, link, { subscribed: true, reason: 'page' })
  assert.equal(await countWishes(sender), 0)
  assert.equal(await isSubscribed(sender, email), true)
})

test('the import counts only rows that would have subscribed', async (t) => {
  const sender = await openSender(t)
  const person = await addPerson(sender, 'ada@dest.test')
  await LEAVING.page?.(sender, person)
  const key = { projectId: sender.project.id }
  const count = async (csv: string) =>
    (await importFile(sender.core, csv, key)).keptUnsubscribedCount
  assert.equal(await count('email,plan\nada@dest.test,pro\n'), 0)
  assert.equal(await count('email,subscribed\nada@dest.test,false\n'), 0)
  assert.equal(await count('email,subscribed\nada@dest.test,true\nada@dest.test,true\n'), 2)
})
