import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createContentCache } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { contents } from '../../../../../src/store/schema/messages.ts'
import { openSender, type Sender } from '../sender.ts'

async function keep(sender: Sender, attached: string, body = '\u00e4'): Promise<string> {
  const file = { filename: 'a.bin', contentType: 'a/b', contentId: null } as const
  const attachments = [{ ...file, disposition: 'attachment', content: attached } as const]
  const { emails } = await sender.send({ body, attachments })
  return (await sender.email(emails[0]?.email as string)).contentId
}

async function change(sender: Sender, id: string, set: Partial<typeof contents.$inferInsert>) {
  await sender.core.store.write((tx) => tx.update(contents).set(set).where(eq(contents.id, id)))
}

test('small and large contents are read whole; cleared ones are left out', async (t) => {
  const sender = await openSender(t)
  const small = await keep(sender, 'aGk=')
  const large = await keep(sender, 'x'.repeat(300_000), 'y'.repeat(70_000))
  const cleared = await keep(sender, 'aGk=')
  await change(sender, cleared, { body: null, attachments: null })
  const { found, left } = await createContentCache(sender.core).load([
    small,
    large,
    cleared,
    'none',
  ])
  assert.deepEqual([...found.keys()].sort(), [small, large].sort())
  assert.deepEqual(found.get(small)?.attachments[0]?.content, 'aGk=')
  assert.equal(found.get(small)?.body, '\u00e4')
  assert.equal(found.get(large)?.attachments[0]?.content.length, 300_000)
  assert.equal(found.get(large)?.body.length, 70_000)
  assert.equal(found.get(large)?.isText, false)
  assert.equal(left.size, 0)
})

test('To and Cc of submitted mail count, and are read with the texts', async (t) => {
  const sender = await openSender(t)
  const recipientsOf = (length: number) => ({ to: 'a'.repeat(length), cc: 'b'.repeat(length) })
  const [few, many] = [await keep(sender, ''), await keep(sender, '')]
  await change(sender, few, { recipientFields: recipientsOf(10) })
  await change(sender, many, { recipientFields: recipientsOf(60_000) })
  const { found } = await createContentCache(sender.core).load([few, many])
  assert.deepEqual(found.get(few)?.recipientFields, recipientsOf(10))
  assert.deepEqual(found.get(many)?.recipientFields, recipientsOf(60_000))
  const asked: number[] = []
  sender.core.outbound.hasMemoryFor = (_, bytes) => {
    asked.push(bytes)
    return false
  }
  const { left } = await createContentCache(sender.core).load([few, many])
  assert.deepEqual([...left], [many])
  assert.equal(asked.length, 1)
  assert.ok(Number(asked[0]) > 120_000)
})

test('a cached content counts its To and Cc', async (t) => {
  const sender = await openSender(t)
  const ids: string[] = []
  const recipientFields = { to: 'a'.repeat(64_000), cc: 'b'.repeat(64_000) }
  for (let index = 0; index < 40; index += 1) {
    const id = await keep(sender, '')
    await change(sender, id, { shareKey: `template ${index} 1`, recipientFields })
    ids.push(id)
  }
  const contentCache = createContentCache(sender.core)
  await contentCache.load(ids)
  const [first = '', last = ''] = [ids[0], ids.at(-1)]
  for (const id of [first, last]) await change(sender, id, { body: 'changed' })
  const { found } = await contentCache.load([first, last])
  assert.deepEqual([found.get(first)?.body, found.get(last)?.body], ['changed', '\u00e4'])
})

test('a content that several emails share is cached, that of a single email is not', async (t) => {
  const sender = await openSender(t)
  const [own, shared, twice] = [
    await keep(sender, ''),
    await keep(sender, ''),
    await keep(sender, ''),
  ]
  await change(sender, shared, { shareKey: 'template x 1' })
  const contentCache = createContentCache(sender.core)
  await contentCache.load([own, shared, twice, twice])
  for (const id of [own, shared, twice]) await change(sender, id, { body: 'changed' })
  const { found } = await contentCache.load([own, shared, twice])
  assert.deepEqual(
    [own, shared, twice].map((id) => found.get(id)?.body),
    ['changed', '\u00e4', '\u00e4'],
  )
})

test('a batch reads at most 32 MB of large contents, and always at least one', async (t) => {
  const sender = await openSender(t)
  const ids = [await keep(sender, 'x'.repeat(45_000_000))]
  for (let index = 0; index < 2; index += 1) ids.push(await keep(sender, 'x'.repeat(100_000)))
  const small = await keep(sender, 'aGk=')
  const { found, left } = await createContentCache(sender.core).load([...ids, small])
  assert.deepEqual([...found.keys()].sort(), [ids[0], small].sort())
  assert.deepEqual([...left].sort(), ids.slice(1).sort())
})

test('a content that exceeds the capacity of outbound is not read, and other mail is', async (t) => {
  const sender = await openSender(t)
  const [small, large] = [await keep(sender, 'aGk='), await keep(sender, 'x'.repeat(100_000))]
  const asked: [string, number][] = []
  sender.core.outbound.hasMemoryFor = (projectId, bytes) => {
    asked.push([projectId, bytes])
    return false
  }
  const { found, left } = await createContentCache(sender.core).load([large, small])
  assert.deepEqual([...found.keys()], [small])
  assert.deepEqual([...left], [large])
  assert.equal(asked.length, 1)
  assert.equal(asked[0]?.[0], sender.project.id)
  assert.ok(Number(asked[0]?.[1]) >= 100_000)
})

test('the event loop turns between large contents', async (t) => {
  const sender = await openSender(t)
  const ids: string[] = []
  for (let index = 0; index < 3; index += 1) ids.push(await keep(sender, 'x'.repeat(300_000)))
  let turns = 0
  let isDone = false
  const count = () => {
    turns += 1
    if (!isDone) setImmediate(count)
  }
  const loading = createContentCache(sender.core).load(ids)
  setImmediate(count)
  await loading
  isDone = true
  assert.ok(turns >= 2, String(turns))
})
