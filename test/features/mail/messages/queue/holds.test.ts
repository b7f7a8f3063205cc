import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createDirectory } from '../../../../../src/features/ground/directory.ts'
import {
  holdDomain,
  isDomainHeld,
  releaseDomain,
  releaseStray,
} from '../../../../../src/features/mail/messages/queue/holds.ts'
import {
  countQueue,
  listQueue,
} from '../../../../../src/features/mail/messages/queue/queue-list.ts'
import { eq } from '../../../../../src/store/drizzle.ts'
import { emails, holds } from '../../../../../src/store/schema/messages.ts'
import { address, START } from '../../../../core.ts'
import { setEmails } from '../../../../set-emails.ts'
import { addCampaign, giveToCampaign } from '../../../outreach/campaigns/add-campaign.ts'
import { openSender, type Sender } from '../sender.ts'

const to = (text: string) => [{ address: address(text), name: null }]

async function statesOf({ core }: Sender) {
  return Object.fromEntries((await countQueue(core)).map(({ state, count }) => [state, count]))
}

/** Inserts `count` emails to dest.test. */
async function fill(sender: Sender, count: number): Promise<void> {
  const { emails: accepted } = await sender.send()
  const row = await sender.email(accepted[0]?.email as string)
  await sender.core.store.write(async (tx) => {
    for (let index = 1; index < count; index += 1) {
      await tx.insert(emails).values({ ...row, id: `${row.id}-${index}` })
    }
  })
}

test('holds and releases of many emails release the lock in between', async (t) => {
  const sender = await openSender(t)
  await fill(sender, 1_200)
  const writes = t.mock.method(sender.core.store, 'write')
  assert.equal(await holdDomain(sender.core, 'dest.test'), 1_200)
  assert.ok(writes.mock.callCount() >= 3)
  assert.deepEqual(await statesOf(sender), { held: 1_200 })
  const released = await releaseDomain(sender.core, 'dest.test')
  assert.deepEqual(released, { due: 1_200, paused: 0, isHeld: true })
  assert.deepEqual(await statesOf(sender), { queued: 1_200 })
})

test('a release leaves mail paused whose campaign is paused', async (t) => {
  const sender = await openSender(t)
  const { core, project, clock } = sender
  const { emails: accepted } = await sender.send()
  await sender.send()
  const id = accepted[0]?.email as string
  const campaign = { projectId: project.id, pausedAt: START, pauseReason: 'manual' } as const
  await giveToCampaign(core, id, { campaignId: await addCampaign(core, campaign) })
  const { giveUpAt } = await sender.email(id)
  await holdDomain(core, 'dest.test')
  clock.now += 1_000
  assert.deepEqual(await releaseDomain(core, 'dest.test'), { due: 1, paused: 1, isHeld: true })
  assert.deepEqual(await statesOf(sender), { queued: 1, paused: 1 })
  const email = await sender.email(id)
  assert.deepEqual([email.dueAt, email.heldAt], [null, START + 1_000])
  assert.equal(email.giveUpAt, giveUpAt + 1_000)
})

test('a cached hold that has ended holds no email', async (t) => {
  const sender = await openSender(t)
  await holdDomain(sender.core, 'dest.test')
  await sender.send()
  const { store, keyring } = sender.core
  const elsewhere = { ...sender.core, directory: createDirectory({ store, keyring }) }
  await releaseDomain(elsewhere, 'dest.test')
  assert.ok((await sender.core.directory.heldDomains()).has('dest.test'))
  await sender.send()
  assert.deepEqual(await statesOf(sender), { queued: 2 })
})

test('an email that is held without a hold is due again, with a later give-up time', async (t) => {
  const sender = await openSender(t)
  const { emails: accepted } = await sender.send()
  await holdDomain(sender.core, 'dest.test')
  await holdDomain(sender.core, 'other.test')
  await sender.send({ to: to('bob@other.test') })
  assert.equal(await releaseStray(sender.core), 0)
  await sender.core.store.write(async (tx) => {
    await tx.delete(holds).where(eq(holds.domain, 'dest.test'))
  })
  sender.clock.now += 5_000
  const notices: unknown[] = []
  sender.core.queueNotifier.listen((call) => notices.push(call))
  assert.equal(await releaseStray(sender.core), 1)
  assert.deepEqual(notices, ['anywhere'])
  const email = await sender.email(accepted[0]?.email as string)
  assert.deepEqual([email.state, email.heldAt], ['queued', null])
  assert.equal(email.giveUpAt, START + 86_400_000 + 5_000)
  assert.deepEqual(await statesOf(sender), { queued: 1, held: 1 })
})

test('a transaction reads holds from the database', async (t) => {
  const sender = await openSender(t)
  await holdDomain(sender.core, 'dest.test')
  const ask = (domain: string) => sender.core.store.write((tx) => isDomainHeld(tx, domain))
  assert.deepEqual([await ask('dest.test'), await ask('est.test')], [true, false])
})

test('the queue is listed newest first, by state and by either domain', async (t) => {
  const sender = await openSender(t)
  const ids: string[] = []
  for (const recipient of ['a@dest.test', 'b@dest.test', 'c@other.test', 'd@dest.test']) {
    const { emails: accepted } = await sender.send({ to: to(recipient) })
    ids.push(accepted[0]?.email as string)
  }
  const [first, second, third, fourth] = ids as [string, string, string, string]
  const change = (id: string, set: Partial<typeof emails.$inferInsert>) =>
    sender.core.store.write(async (tx) => {
      await setEmails(tx, set, eq(emails.id, id))
    })
  await change(first, { state: 'delivered', dueAt: null })
  await change(second, { state: 'sending', dueAt: null, leaseUntil: START })
  const list = async (filter: Parameters<typeof listQueue>[1]) =>
    (await listQueue(sender.core, filter)).map(({ id }) => id)
  assert.deepEqual(await list({}), [fourth, third, second])
  assert.deepEqual(await list({ limit: 2 }), [fourth, third])
  assert.deepEqual(await list({ state: 'queued' }), [fourth, third])
  assert.deepEqual(await list({ state: 'sending' }), [second])
  assert.deepEqual(await list({ state: 'deferred' }), [])
  assert.deepEqual(await list({ state: 'delivered', domain: 'dest.test' }), [first])
  assert.deepEqual(await list({ domain: 'dest.test' }), [fourth, second])
  await holdDomain(sender.core, 'other.test')
  assert.deepEqual(await list({ state: 'held' }), [third])
})

test('a sender domain is compared exactly: no wildcards, no domains with the same ending', async (t) => {
  const sender = await openSender(t)
  await sender.send()
  const count = async (senderDomain: string) =>
    (await listQueue(sender.core, { senderDomain })).length
  assert.equal(await count('example.test'), 1)
  for (const other of ['example_test', '%', 'ple.test', 'test', 'shop@example.test']) {
    assert.equal(await count(other), 0, other)
  }
})

test('a listed email has the fields of a list, without its snapshot', async (t) => {
  const sender = await openSender(t)
  await sender.send()
  const [email] = await listQueue(sender.core, {})
  assert.ok(email && !('variables' in email) && !('headers' in email))
})
