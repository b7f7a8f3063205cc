import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  countEnded,
  listQueue,
} from '../../../../../src/features/mail/messages/queue/queue-list.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { emails } from '../../../../../src/store/schema/messages.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'

/** Inserts a bounced email with this row number. */
async function addBounced(sender: Sender, number: number): Promise<string> {
  const { emails: accepted } = await sender.send()
  const id = accepted[0]?.email as string
  await sender.core.store.write(async (tx) => {
    await setEmails(tx, { state: 'bounced', status: 'BOUNCED', dueAt: null }, eq(emails.id, id))
    await tx.run(sql`update emails set rowid = ${number} where id = ${id}`)
  })
  return id
}

test('finished mail is listed newest first, page after page', async (t) => {
  const sender = await openSender(t)
  const ids: string[] = []
  for (const number of [200_000, 15, 40_000, 39_999, 12]) ids.push(await addBounced(sender, number))
  const listed = async (limit?: number) =>
    (await listQueue(sender.core, { state: 'bounced', limit })).map(({ id }) => id)
  const [first, fourth, second, third, last] = ids
  assert.deepEqual(await listed(), [first, second, third, fourth, last])
  assert.deepEqual(await listed(2), [first, second])
  assert.deepEqual(await listQueue(sender.core, { state: 'delivered' }), [])
  assert.deepEqual(await listQueue(sender.core, { state: 'bounced', domain: 'other.test' }), [])
})

test('finished mail is searched among the newest million emails only', async (t) => {
  const sender = await openSender(t)
  await addBounced(sender, 1)
  const near = await addBounced(sender, 1_500_000)
  const newest = await addBounced(sender, 2_000_000)
  const listed = await listQueue(sender.core, { state: 'bounced' })
  assert.deepEqual(
    listed.map(({ id }) => id),
    [newest, near],
  )
})

test('an empty queue lists no email in any state', async (t) => {
  const sender = await openSender(t)
  assert.deepEqual(await listQueue(sender.core, { state: 'failed' }), [])
  assert.deepEqual(await listQueue(sender.core, {}), [])
})

test('finished mail is counted on the newest page that has any, with the number of searched rows', async (t) => {
  const sender = await openSender(t)
  assert.deepEqual(await countEnded(sender.core, {}), { counts: [], searchedRows: null })
  await addBounced(sender, 3)
  await addBounced(sender, 4)
  const counts = [{ state: 'bounced', count: 2 }]
  assert.deepEqual(await countEnded(sender.core, {}), { counts, searchedRows: null })
  assert.deepEqual((await countEnded(sender.core, { domain: 'other.test' })).counts, [])
  const waiting = await addBounced(sender, 50_000)
  const back = { state: 'queued', status: 'PENDING', dueAt: 1 } as const
  await sender.core.store.write((tx) => setEmails(tx, back, eq(emails.id, waiting)))
  assert.deepEqual(await countEnded(sender.core, {}), { counts, searchedRows: null })
  await addBounced(sender, 25_000)
  assert.deepEqual(await countEnded(sender.core, {}), {
    ...{ counts: [{ state: 'bounced', count: 1 }], searchedRows: 40_000 },
  })
})
