/** Links, unsubscribe addresses and complaints of mail whose contact or email is gone by now. */
import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import supertest from 'supertest'
import { leaveByMail } from '../../../src/features/incoming/receiving/process/apply-unsubscribe.ts'
import { resetProject } from '../../../src/features/operation/erasure/end-project.ts'
import { runBulk, startBulk } from '../../../src/features/people/contacts/bulk/bulk-job.ts'
import { upsertContact } from '../../../src/features/people/contacts/write/contact-queue.ts'
import { deleteContact } from '../../../src/features/people/contacts/write/delete.ts'
import { updateContact } from '../../../src/features/people/contacts/write/update.ts'
import { ERASED_RECIPIENTS } from '../../../src/features/people/wishes/erased-recipients.ts'
import { addressDigest } from '../../../src/store/dialect.ts'
import { eq, sql } from '../../../src/store/drizzle.ts'
import { contacts } from '../../../src/store/schema/contacts.ts'
import { jobs } from '../../../src/store/schema/jobs.ts'
import { emails } from '../../../src/store/schema/messages.ts'
import { erasedRecipients, instanceKeys, wishes } from '../../../src/store/schema/wishes.ts'
import { deleteExpired } from '../../../src/work/retention.ts'
import { address } from '../../core.ts'
import { work } from '../../features/operation/erasure/work.ts'
import {
  addRecipient,
  pageToken,
  type Recipient,
} from '../../features/people/contacts/add-recipient.ts'
import { claimJob } from '../../work/jobs/running.ts'
import { type StartedService, useService } from '../service.ts'

const started = useService()
const { service, mine } = started

type Gone = { contactId: string; projectId: string }
const DAY_MS = 24 * 60 * 60 * 1_000

/** Every way in which contacts and their emails are deleted while their project stays. */
const DELETIONS: Record<string, (core: StartedService['service']['core'], gone: Gone) => unknown> =
  {
    'DELETE /contacts/:id': (core, { contactId, projectId }) =>
      deleteContact(core, { projectId, id: contactId }),
    'bulk-delete': async (core, { contactId, projectId }) => {
      const selection = { mode: 'ids', contactIds: [contactId] } as const
      await startBulk(core, { projectId, operation: 'delete', selection })
      const job = await claimJob(core, 'bulk')
      await runBulk(core, job)
      await core.store.write((tx) => tx.delete(jobs).where(eq(jobs.id, job.id)).run())
    },
    'a reset': async (core, { projectId }) => {
      await resetProject(core, projectId)
      await work(core)
    },
  }

/** The mail of before the upgrade has links without a digest. */
const LINKS = { 'a link of before the upgrade': false, 'a link of now': true }

const post = (path: string) => supertest(service.url).post(path)
const get = (path: string) => supertest(service.url).get(path)
const countWishes = () => service.core.store.read.$count(wishes)

async function isSubscribed(projectId: string, email: string): Promise<boolean | undefined> {
  const rows = await service.core.store.read
    .select()
    .from(contacts)
    .where(eq(contacts.projectId, projectId))
  return rows.find((row) => row.address === email)?.subscribed
}

/** A recipient with a token of its mail. `isNow`: with the digest. */
async function addMailed(projectId: string, email: string, isNow: boolean) {
  const { core } = service
  const recipient = await addRecipient(core, { projectId, email })
  const { contactId, emailId } = recipient
  await core.store.write((tx) =>
    tx
      .update(emails)
      .set({ recipient: email, createdAt: isNow ? core.now() : 1 })
      .where(eq(emails.id, emailId))
      .run(),
  )
  const digest = isNow ? core.keyring.addressDigest(projectId, email) : undefined
  return { ...recipient, digest, token: pageToken(core, { contactId, emailId, digest }) }
}

let count = 0

for (const [how, erase] of Object.entries(DELETIONS)) {
  for (const [which, isNow] of Object.entries(LINKS)) {
    test(`after ${how}, ${which} still unsubscribes, before and after a second import`, async () => {
      const { core } = service
      const { id: projectId } = await service.makeProject('Shop')
      count += 1
      const email = `p${count}@dest.test`
      const mailed = await addMailed(projectId, email, isNow)
      await erase(core, { contactId: mailed.contactId, projectId })
      assert.equal(await isSubscribed(projectId, email), undefined)
      const page = await get(`/unsubscribe/${mailed.token}`)
      assert.equal(page.status, 200)
      assert.match(page.text, /Shop/)
      assert.doesNotMatch(page.text, new RegExp(email))

      await upsertContact(core, { projectId, address: address(email), subscribed: true })
      assert.equal(await isSubscribed(projectId, email), true)
      assert.equal((await post(`/unsubscribe/${mailed.token}`)).status, 200)
      assert.equal(await isSubscribed(projectId, email), false)

      await upsertContact(core, { projectId, address: address(email), subscribed: true })
      const again = { email: { emailId: mailed.emailId, digest: mailed.digest } }
      await core.store.write((tx) => leaveByMail(core, tx, { ...again, reason: 'mail' }))
      assert.equal(await isSubscribed(projectId, email), false)

      const { body } = await post(`/contacts/public/${mailed.token}/subscribe`)
      assert.deepEqual([body.email, body.subscribed], [email, true])
      assert.equal(await isSubscribed(projectId, email), true)
    })

    test(`after ${how}, ${which} keeps its person out of the next import`, async () => {
      const { core } = service
      const { id: projectId } = await service.makeProject('Shop')
      count += 1
      const email = `p${count}@dest.test`
      const mailed = await addMailed(projectId, email, isNow)
      await erase(core, { contactId: mailed.contactId, projectId })
      assert.equal((await post(`/unsubscribe/${mailed.token}`)).status, 200)
      await upsertContact(core, { projectId, address: address(email) })
      assert.equal(await isSubscribed(projectId, email), false)
    })
  }
}

test('only these files delete contacts or emails, and each keeps the ids', () => {
  const root = path.join(import.meta.dirname, '../../../src')
  const deletes =
    /delete from (contacts|emails)\b|\.delete\((contacts|emails)\)|partOf\('(contacts|emails)'|erasedBy\w+\((contacts|emails)\b/
  const files = globSync('**/*.ts', { cwd: root }).filter((file) =>
    deletes.test(readFileSync(path.join(root, file), 'utf8')),
  )
  assert.deepEqual(files.map((file) => file.replaceAll(path.sep, '/')).sort(), [
    'features/operation/erasure/erase-rows.ts',
    'features/people/area.ts',
    'features/people/contacts/write/delete.ts',
  ])
})

test('an unsubscription counts for the address of the mail and for the present one', async () => {
  const { core } = service
  const mailed = await addMailed(mine.id, 'old@dest.test', true)
  const key = { projectId: mine.id, id: mailed.contactId }
  await updateContact(core, key, { address: address('new@dest.test') })
  const held = { projectId: mine.id, address: address('old@dest.test') }
  await upsertContact(core, { ...held, subscribed: true })
  assert.equal((await post(`/unsubscribe/${mailed.token}`)).status, 200)
  assert.equal(await isSubscribed(mine.id, 'old@dest.test'), false)
  assert.equal(await isSubscribed(mine.id, 'new@dest.test'), false)
  const keys = [...['old@dest.test', 'new@dest.test']].map((email) => sql`${email}`)
  for (const email of keys) {
    const digest = addressDigest(sql`${mine.id}`, email)
    const found = await core.store.read.all(sql`select 1 from wishes where digest = ${digest}`)
    assert.equal(found.length, 1)
  }
})

test('ids are kept for 400 days; a link of now acts for ever', async () => {
  const { core } = service
  const { id: projectId } = await service.makeProject('Shop')
  const older = await addMailed(projectId, 'older@dest.test', false)
  const newer = await addMailed(projectId, 'newer@dest.test', true)
  for (const { contactId: id } of [older, newer]) await deleteContact(core, { projectId, id })
  await deleteExpired(core, ERASED_RECIPIENTS)
  const kept = await core.store.read.$count(
    erasedRecipients,
    eq(erasedRecipients.projectId, projectId),
  )
  // The email of now is in its links; that of before is not.
  assert.equal(kept, 3)
  await core.store.write((tx) =>
    tx
      .update(erasedRecipients)
      .set({ at: core.now() - 401 * DAY_MS })
      .run(),
  )
  await deleteExpired(core, ERASED_RECIPIENTS)
  assert.equal(await core.store.read.$count(erasedRecipients), 0)
  assert.equal((await post(`/unsubscribe/${older.token}`)).status, 410)
  const before = await countWishes()
  assert.equal((await post(`/unsubscribe/${newer.token}`)).status, 200)
  assert.equal(await countWishes(), before + 1)
  await upsertContact(core, { projectId, address: address('newer@dest.test') })
  assert.equal(await isSubscribed(projectId, 'newer@dest.test'), false)
})

test('a bad token stays 200 and writes nothing', async () => {
  const before = await countWishes()
  const { token } = (await addMailed(mine.id, 'bad@dest.test', true)) as Recipient
  const bad = `${token.slice(0, -3)}aaa`
  assert.equal((await post(`/unsubscribe/${bad}`)).status, 200)
  assert.equal(await countWishes(), before)
  assert.equal(await isSubscribed(mine.id, 'bad@dest.test'), true)
  assert.equal(await service.core.store.read.$count(instanceKeys), 1)
})
