/** What the tests rely on to find emails on a wrong shelf. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { eq, sql } from '../src/store/drizzle.ts'
import { emails } from '../src/store/schema/messages.ts'
import { openSender } from './features/mail/messages/sender.ts'
import { listMisplaced, unlessClosed } from './misplaced-emails.ts'
import { setEmails } from './set-emails.ts'

test('setting an email hides no other one that the program has put on a wrong shelf', async (t) => {
  const { core, send } = await openSender(t)
  const [wrong, other] = [await send(), await send()].map(({ emails: [sent] }) => sent?.email)
  await core.store.write(async (tx) => {
    await tx.run(sql`update emails set state = 'held' where id = ${wrong}`)
    await setEmails(tx, { state: 'held', dueAt: null }, eq(emails.id, other as string))
  })
  const found = await listMisplaced(core.store)
  assert.deepEqual(found, [{ id: wrong, state: 'held', status: 'PENDING', shelf: null }])
  await core.store.write((tx) => setEmails(tx, { dueAt: null }))
  assert.deepEqual(await listMisplaced(core.store), [])
})

test('only a store that is closed needs no look at its emails', async (t) => {
  const { core } = await openSender(t)
  const broken = new Error('no such column: shelf')
  assert.deepEqual(unlessClosed(broken), [broken])
  await core.store.close()
  assert.deepEqual(await listMisplaced(core.store).catch(unlessClosed), [])
})
