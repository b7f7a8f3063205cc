import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import { retryEmails } from '../../../../src/features/mail/messages/queue/operate.ts'
import {
  createWalks,
  deleteExpiredContent,
  listOldOwn,
} from '../../../../src/features/mail/messages/retention.ts'
import { deleteContact } from '../../../../src/features/people/contacts/write/delete.ts'
import { eq, sql } from '../../../../src/store/drizzle.ts'
import { createIdSource, idTime } from '../../../../src/store/ids.ts'
import { contents, type Email, emails } from '../../../../src/store/schema/messages.ts'
import { START } from '../../../core.ts'
import { setEmails } from '../../../set-emails.ts'
import { openSender, type Sender } from './sender.ts'

/** Inserts an email accepted `days` ago; its id and that of its content are of that time. */
async function backdated(
  sender: Sender,
  days: number,
  change: Partial<Email> = {},
): Promise<string> {
  const { now } = sender.clock
  sender.clock.now = now - days * DAY_MS
  const { emails: accepted } = await sender.send({ data: { name: 'Ada' }, headers: { 'X-A': '1' } })
  const [id, contentId] = createIds(() => sender.clock.now)
  sender.clock.now = now
  const before = await sender.email(accepted[0]?.email as string)
  await sender.core.store.write(async (tx) => {
    await tx.update(contents).set({ id: contentId }).where(eq(contents.id, before.contentId))
    await setEmails(
      tx,
      { state: 'delivered', status: 'DELIVERED', dueAt: null, ...change, id, contentId },
      eq(emails.id, before.id),
    )
  })
  return id
}

function createIds(now: () => number): [string, string] {
  const next = createIdSource(now)
  return [next(), next()]
}

async function contentOf(sender: Sender, id: string) {
  const { contentId } = await sender.email(id)
  return sender.core.store.read.select().from(contents).where(eq(contents.id, contentId)).get()
}

async function linksOf(sender: Sender, id: string) {
  return (await contentOf(sender, id))?.links
}

async function isWhole(sender: Sender, id: string): Promise<boolean[]> {
  const { variables, headers } = await sender.email(id)
  return [(await contentOf(sender, id))?.body !== null, variables !== null, headers !== null]
}

test('the body and the data of an email are deleted; the record stays', async (t) => {
  const sender = await openSender(t)
  const old = await backdated(sender, 91)
  const recent = await backdated(sender, 89)
  assert.equal(await deleteExpiredContent(sender.core), 1)
  assert.deepEqual(await isWhole(sender, old), [false, false, false])
  assert.deepEqual(await isWhole(sender, recent), [true, true, true])
  assert.equal((await sender.email(old)).subject, 'Hello')
  assert.equal(await deleteExpiredContent(sender.core), 0)
})

for (const change of [
  { state: 'held', heldAt: START },
  { state: 'queued', dueAt: START },
  { state: 'sending', leaseUntil: START },
] as const) {
  test(`mail that is ${change.state} keeps its content, however old`, async (t) => {
    const sender = await openSender(t)
    const id = await backdated(sender, 400, change)
    assert.equal(await deleteExpiredContent(sender.core), 0)
    assert.deepEqual(await isWhole(sender, id), [true, true, true])
  })
}

test('content of any age is deleted', async (t) => {
  const sender = await openSender(t)
  const ids = [
    await backdated(sender, 91),
    await backdated(sender, 500),
    await backdated(sender, 1500),
  ]
  assert.equal(await deleteExpiredContent(sender.core), 3)
  for (const id of ids) assert.deepEqual(await isWhole(sender, id), [false, false, false])
})

test('a text part is deleted with its body', async (t) => {
  const sender = await openSender(t)
  const old = await backdated(sender, 91)
  const isIt = eq(contents.id, (await sender.email(old)).contentId)
  await sender.core.store.write((tx) => tx.update(contents).set({ text: 'by hand' }).where(isIt))
  assert.equal(await deleteExpiredContent(sender.core), 1)
  const { body, text } = (await contentOf(sender, old)) ?? {}
  assert.deepEqual([body, text], [null, null])
})

test('the links of a body outlive it; a text part has no links', async (t) => {
  const sender = await openSender(t)
  const old = await backdated(sender, 91)
  const text = await backdated(sender, 91)
  const recent = await backdated(sender, 89)
  const body =
    '<a href="https://a.example/?x=1&amp;y=2">a</a><a href="https://b.example/{{ x }}">b</a>'
  for (const [id, isText] of [
    [old, false],
    [text, true],
    [recent, false],
  ] as const) {
    const { contentId } = await sender.email(id)
    await sender.core.store.write((tx) =>
      tx.update(contents).set({ body, isText }).where(eq(contents.id, contentId)),
    )
  }
  assert.equal(await deleteExpiredContent(sender.core), 2)
  assert.deepEqual(await linksOf(sender, old), ['https://a.example/?x=1&y=2'])
  assert.equal(await linksOf(sender, text), null)
  assert.equal(await linksOf(sender, recent), null)
})

test('many contents are cleared in several transactions', async (t) => {
  const sender = await openSender(t)
  const id = await backdated(sender, 100)
  const row = await sender.email(id)
  const content = await sender.core.store.read.select().from(contents).get()
  await sender.core.store.write(async (tx) => {
    for (let index = 0; index < 250; index += 1) {
      await tx
        .insert(contents)
        .values({ ...content!, id: `${content!.id}-${index}`, shareKey: null })
      await tx
        .insert(emails)
        .values({ ...row, id: `${id}-${index}`, contentId: `${content!.id}-${index}` })
    }
  })
  assert.equal(await deleteExpiredContent(sender.core), 251)
  const left = await sender.core.store.read.select().from(emails).all()
  assert.ok(left.every(({ variables }) => variables === null))
})

test('mail whose content is cleared cannot be retried', async (t) => {
  const sender = await openSender(t)
  const id = await backdated(sender, 91, { state: 'failed', status: 'FAILED' })
  await deleteExpiredContent(sender.core)
  await assert.rejects(retryEmails(sender.core, [id]), { code: 'CONFLICT', message: /retention/ })
})

test('mail whose body alone is cleared cannot be retried', async (t) => {
  const sender = await openSender(t)
  const id = await backdated(sender, 1, { state: 'failed', status: 'FAILED' })
  await sender.core.store.write((tx) => tx.update(contents).set({ body: null }))
  await assert.rejects(retryEmails(sender.core, [id]), { code: 'CONFLICT', message: /retention/ })
})

test('the text of an email stays without its contact and the data, until retention ends it', async (t) => {
  const sender = await openSender(t)
  const { core, project, clock } = sender
  const sent = await sender.send({
    body: '<p>{{ name }} <a href="https://a.test">b</a></p>',
    data: { name: 'Ada' },
  })
  const { id, contactId } = await sender.email(sent.emails[0]?.email as string)
  await core.store.write((tx) =>
    setEmails(tx, { state: 'delivered', dueAt: null }, eq(emails.id, id)),
  )
  await deleteContact(core, { projectId: project.id, id: contactId })
  const left = async () => (await core.store.read.select().from(contents).all())[0]
  assert.equal(await core.store.read.$count(emails), 0)
  assert.match((await left())?.body ?? '', /^<p>\{\{ name \}\}/)
  clock.now = idTime((await left())?.id as string) + 91 * DAY_MS
  assert.equal(await deleteExpiredContent(core), 1)
  const { body, subject, links } = (await left()) ?? {}
  assert.deepEqual([body, subject, links], [null, 'Hello', ['https://a.test']])
})

test('a shared content is deleted by its last use, another by its id', async (t) => {
  const sender = await openSender(t)
  const old = await backdated(sender, 91)
  const row = await contentOf(sender, old)
  assert.ok(row)
  const of = { ...row, id: createIdSource(() => sender.clock.now - 200 * DAY_MS)() }
  const { lastUsedAt } = row
  await sender.core.store.write(async (tx) => {
    await tx.insert(contents).values({ ...of, id: `${of.id}-old`, shareKey: 'old' })
    const used = { shareKey: 'used', lastUsedAt: lastUsedAt + 2 * DAY_MS }
    await tx.insert(contents).values({ ...of, id: `${of.id}-used`, ...used })
  })
  assert.equal(await deleteExpiredContent(sender.core), 2)
  const left = await sender.core.store.read.select().from(contents).all()
  assert.deepEqual(
    left.filter(({ body }) => body !== null).map(({ shareKey }) => shareKey),
    ['used'],
  )
})

/** Copies an email and its content `count` times; each copy is of the next millisecond. */
async function copy(sender: Sender, id: string, count: number): Promise<void> {
  const row = await sender.email(id)
  const content = await contentOf(sender, id)
  const start = idTime(id)
  await sender.core.store.write(async (tx) => {
    for (let index = 1; index <= count; index += 1) {
      const [emailId, contentId] = createIds(() => start + index)
      await tx.insert(contents).values({ ...content!, id: contentId })
      await tx.insert(emails).values({ ...row, id: emailId, contentId })
    }
  })
}

/** Bodies and snapshots that are there. */
async function countWhole({ core }: Sender): Promise<number[]> {
  const { read } = core.store
  const bodies = await read.$count(contents, sql`body is not null`)
  return [bodies, await read.$count(emails, sql`variables is not null or headers is not null`)]
}

for (const writes of [0, 30, 70]) {
  test(`a run that stops after ${writes} writes is completed by the next one`, async (t) => {
    const sender = await openSender(t)
    await copy(sender, await backdated(sender, 300), 4_200)
    const { core } = sender
    const walks = createWalks()
    let left = writes
    const write: typeof core.store.write = async (...args) => {
      if (left === 0) throw new Error('the server stops')
      left -= 1
      return core.store.write(...args)
    }
    const stopping = { ...core, store: { ...core.store, write } }
    await assert.rejects(deleteExpiredContent(stopping, walks), /the server stops/)
    await deleteExpiredContent(core, walks)
    assert.deepEqual(await countWhole(sender), [0, 0])
  })
}

test('mail that was held for long loses its content in the run after its end, and is all that is read again', async (t) => {
  const sender = await openSender(t)
  const held = await backdated(sender, 300, { state: 'held', heldAt: START })
  await copy(sender, await backdated(sender, 200), 4_200)
  const { core } = sender
  const walks = createWalks()
  let pages = 0
  const { scan } = core.store
  const list: typeof scan.list = async (statement, values) => {
    if ((statement as unknown) === listOldOwn) pages += 1
    return scan.list(statement, values)
  }
  const find: typeof scan.find = (...args) => scan.find(...args)
  const counted = { ...core, store: { ...core.store, scan: { list, find } as typeof scan } }
  const run = async () => {
    pages = 0
    return { cleared: await deleteExpiredContent(counted, walks), pages }
  }
  assert.deepEqual(await run(), { cleared: 4_201, pages: 3 })
  assert.deepEqual(await isWhole(sender, held), [true, true, true])
  assert.deepEqual(await run(), { cleared: 0, pages: 2 })
  await core.store.write((tx) =>
    setEmails(tx, { state: 'delivered', heldAt: null }, eq(emails.id, held)),
  )
  assert.deepEqual(await run(), { cleared: 1, pages: 2 })
  assert.deepEqual(await isWhole(sender, held), [false, false, false])
  assert.deepEqual(await run(), { cleared: 0, pages: 1 })
})
