import assert from 'node:assert/strict'
import { test } from 'node:test'
import { HOUR_MS } from '../../../../../src/base/clock.ts'
import {
  deleteExpiredChunks,
  selectExpiredOwners,
} from '../../../../../src/features/ground/chunks.ts'
import { readAttachments } from '../../../../../src/features/mail/messages/accept/content.ts'
import { createContentCache } from '../../../../../src/features/mail/messages/delivery/deliverer.ts'
import { deleteExpiredContent } from '../../../../../src/features/mail/messages/retention.ts'
import { decodeAttachment } from '../../../../../src/formats/compose/attachment.ts'
import { eq, sql } from '../../../../../src/store/drizzle.ts'
import { createIdSource } from '../../../../../src/store/ids.ts'
import { chunks, contents, emails } from '../../../../../src/store/schema/messages.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { address, START } from '../../../../core.ts'
import { countTurns } from '../../../../event-loop.ts'
import { setEmails } from '../../../../set-emails.ts'
import { openSender, type Sender } from '../sender.ts'

const octets = Buffer.from(Uint8Array.from({ length: 2_500_000 }, (_, at) => (at * 31) >> 2))
const file = { contentType: 'a/b', contentId: null, disposition: 'attachment' } as const
const large = { ...file, filename: 'large.bin', content: octets.toString('base64') }
const small = { ...file, filename: 'small.bin', content: 'aGVsbG8=' }

async function send(sender: Sender, attachments = [large, small]): Promise<string> {
  const { emails: sent } = await sender.send({ attachments })
  return (await sender.email(sent[0]?.email as string)).contentId
}

async function chunkCount({ core }: Sender): Promise<number> {
  return core.store.read.$count(chunks)
}

/** Backdates a content, its chunks and its email. Returns the id of that time. */
async function age(sender: Sender, contentId: string, ms: number): Promise<string> {
  const at = START - ms
  const id = createIdSource(() => at)()
  await sender.core.store.write(async (tx) => {
    await tx.update(contents).set({ id, lastUsedAt: at }).where(eq(contents.id, contentId))
    await tx.update(chunks).set({ ownerId: id }).where(eq(chunks.ownerId, contentId))
    const ended = { contentId: id, createdAt: at, state: 'delivered', dueAt: null } as const
    await setEmails(tx, ended, eq(emails.contentId, contentId))
  })
  return id
}

test('large attachments are stored in chunks, small ones in their content', async (t) => {
  const sender = await openSender(t)
  await send(sender, [small])
  assert.equal(await chunkCount(sender), 0)
  const id = await send(sender)
  assert.equal(await chunkCount(sender), 4)
  const content = await sender.core.store.read
    .select()
    .from(contents)
    .where(eq(contents.id, id))
    .get()
  assert.equal(content?.chunkBytes, octets.length + 5)
  assert.deepEqual(content?.attachments, [
    { ...large, content: '', chunks: 3 },
    { ...small, content: '', chunks: 1 },
  ])
})

test('attachments stored in chunks are read unchanged', async (t) => {
  const sender = await openSender(t)
  const id = await send(sender)
  const { found } = await createContentCache(sender.core).load([id])
  const read = found.get(id)?.attachments.map(decodeAttachment) ?? []
  assert.deepEqual(
    read.map(({ filename, contentType }) => [filename, contentType]),
    [
      ['large.bin', 'a/b'],
      ['small.bin', 'a/b'],
    ],
  )
  assert.ok(Buffer.from(read[0]?.content ?? []).equals(octets))
  assert.equal(String(read[1]?.content), 'hello')
})

test('attachments stored whole by an earlier version are read', async (t) => {
  const sender = await openSender(t)
  const id = await send(sender, [small])
  const whole = { attachments: [large, small] }
  await sender.core.store.write((tx) => tx.update(contents).set(whole).where(eq(contents.id, id)))
  const { found } = await createContentCache(sender.core).load([id])
  assert.deepEqual(found.get(id)?.attachments, [large, small])
})

test('other work runs between chunks that are written or read', async (t) => {
  const sender = await openSender(t)
  const seen = new Set<number>()
  const recordCount = async () => seen.add(await chunkCount(sender))
  const { result: id } = await countTurns(send(sender), recordCount)
  assert.ok(
    [1, 2, 3].every((count) => seen.has(count)),
    'one chunk at a time',
  )
  const row = await sender.core.store.read.select().from(contents).where(eq(contents.id, id)).get()
  const { turns } = await countTurns(readAttachments(sender.core, id, row?.attachments ?? []))
  assert.ok(turns >= 4, `${turns} turns`)
})

test('a refused request leaves no chunks', async (t) => {
  const sender = await openSender(t)
  await sender.core.store.write((tx) =>
    tx.run(sql`create trigger broken before insert on emails begin select raise(abort, 'no'); end`),
  )
  await assert.rejects(
    sender.send({ attachments: [large], to: [{ address: address('a@b.test'), name: null }] }),
  )
  assert.equal(await chunkCount(sender), 0)
  assert.equal((await sender.counts()).contents, 0)
})

test('chunks are deleted at once when one of them cannot be written', async (t) => {
  const sender = await openSender(t)
  await sender.core.store.write((tx) =>
    tx.run(sql`create trigger full before insert on chunks when new.number = 2
      begin select raise(abort, 'no'); end`),
  )
  await assert.rejects(send(sender))
  assert.equal(await chunkCount(sender), 0)
})

test('a durable request keeps its attachments even if its caller gets an error', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const { write } = core.store
  const failAfterCommit: Store['write'] = async (fn, options) => {
    const value = await write(fn, options)
    if ((await sender.counts()).contents > 0) throw new Error('the files are gone')
    return value
  }
  Object.assign(core.store, { write: failAfterCommit })
  await assert.rejects(send(sender), /the files are gone/)
  Object.assign(core.store, { write })
  assert.equal(await chunkCount(sender), 4)
  await deleteExpiredChunks({ ...core, now: () => Date.now() + 2 * HOUR_MS })
  assert.equal(await chunkCount(sender), 4)
})

test('a request whose chunks were deleted before its commit is not accepted', async (t) => {
  const sender = await openSender(t)
  const { core } = sender
  const { write } = core.store
  // The clock is set forward while the last chunk is written.
  const late: Store['write'] = async (fn, options) => {
    const isRequest = (await chunkCount(sender)) === 4
    if (isRequest)
      await deleteExpiredChunks({
        store: { ...core.store, write },
        now: () => Date.now() + 2 * HOUR_MS,
      })
    return write(fn, options)
  }
  Object.assign(core.store, { write: late })
  await assert.rejects(send(sender), { code: 'DATABASE_ERROR' })
  Object.assign(core.store, { write })
  assert.equal((await sender.counts()).contents, 0)
})

test('chunks of a process that ended are deleted after an hour, and chunks in use are not', async (t) => {
  const sender = await openSender(t)
  const [left] = [await send(sender), await send(sender)]
  await sender.core.store.write((tx) => tx.delete(contents).where(eq(contents.id, left ?? '')))
  // Ids have the real time in them.
  const at = (ms: number) => ({ ...sender.core, now: () => Date.now() + ms })
  await deleteExpiredChunks(at(HOUR_MS / 2))
  assert.equal(await chunkCount(sender), 8)
  await deleteExpiredChunks(at(2 * HOUR_MS))
  assert.equal(await chunkCount(sender), 4)
})

test('chunks are deleted after retention has cleared their content', async (t) => {
  const sender = await openSender(t)
  const old = await age(sender, await send(sender), 91 * 24 * HOUR_MS)
  const recent = await age(sender, await send(sender), 89 * 24 * HOUR_MS)
  assert.equal(await deleteExpiredContent(sender.core), 1)
  await deleteExpiredChunks({ ...sender.core, now: () => Date.now() + 2 * HOUR_MS })
  assert.equal(await chunkCount(sender), 4)
  const { found } = await createContentCache(sender.core).load([old, recent])
  assert.deepEqual([...found.keys()], [recent])
})

test('a content without its chunks counts as cleared', async (t) => {
  const sender = await openSender(t)
  const id = await send(sender)
  await sender.core.store.write((tx) => tx.delete(chunks))
  const { found } = await createContentCache(sender.core).load([id])
  assert.equal(found.size, 0)
})

test('abandoned chunks are found by the index', async (t) => {
  const sender = await openSender(t)
  const { text } = selectExpiredOwners.compiled()
  const plan = await sender.core.store.read.all<{ detail: string }>(
    sql`${sql.raw(`explain query plan ${text.replaceAll('?', "''")}`)}`,
  )
  const steps = plan.map(({ detail }) => detail).join('\n')
  assert.match(steps, /chunks USING COVERING INDEX/)
  assert.match(steps, /SEARCH contents USING/)
  assert.match(steps, /SEARCH inbound_messages USING/)
})
