/** Cascading deletes: by foreign keys and, for the busiest tables, by triggers. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { eq } from '../../../src/store/drizzle.ts'
import { newId } from '../../../src/store/ids.ts'
import { projects } from '../../../src/store/schema/accounts.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { events } from '../../../src/store/schema/events.ts'
import { attempts, emails } from '../../../src/store/schema/messages.ts'
import { openSender } from '../../features/mail/messages/sender.ts'

/** A project with one email of one contact, its attempt, and events with and without a contact. */
async function openFilled(t: TestContext) {
  const sender = await openSender(t)
  const { emails: accepted } = await sender.send()
  const [{ contact, email } = { contact: { id: '' }, email: '' }] = accepted
  const projectId = sender.project.id
  await sender.core.store.write(async (tx) => {
    const attempt = { emailId: email, at: 1, durationMs: 1, result: 'deferred', steps: [] }
    await tx.insert(attempts).values(attempt)
    for (const contactId of [contact.id, null]) {
      await tx.insert(events).values({ id: newId(), projectId, name: 'x', contactId, createdAt: 1 })
    }
  })
  const counts = async () => {
    const { read } = sender.core.store
    const tables = [contacts, emails, attempts, events]
    return Promise.all(tables.map((table) => read.$count(table)))
  }
  assert.deepEqual(await counts(), [1, 1, 1, 2])
  return { sender, contact, projectId, counts }
}

test('deleting a contact deletes its emails, their attempts and its events', async (t) => {
  const { sender, contact, counts } = await openFilled(t)
  await sender.core.store.write((tx) => tx.delete(contacts).where(eq(contacts.id, contact.id)))
  assert.deepEqual(await counts(), [0, 0, 0, 1])
})

test('deleting a project deletes all that it has, and nothing of other projects', async (t) => {
  const { sender, projectId, counts } = await openFilled(t)
  await sender.core.store.write(async (tx) => {
    const other = { id: newId(), projectId: newId(), name: 'x', contactId: newId(), createdAt: 1 }
    await tx.insert(events).values(other)
    await tx.delete(projects).where(eq(projects.id, projectId))
  })
  assert.deepEqual(await counts(), [0, 0, 0, 1])
})
