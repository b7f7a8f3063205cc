import assert from 'node:assert/strict'
import { test } from 'node:test'
import { findRawBytes, readRawEmail } from '../../../../src/features/insight/emails/show-email.ts'
import { acceptOnce } from '../../../../src/features/mail/messages/accept/accept-message.ts'
import { eq } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { domains } from '../../../../src/store/schema/domains.ts'
import { inboundMessages } from '../../../../src/store/schema/inbound.ts'
import { contents, emails } from '../../../../src/store/schema/messages.ts'
import { addProject, address, openTestCore, type TestCore, trustDomain } from '../../../core.ts'
import { openReceiver } from '../../incoming/receiving/receiver.ts'

const text = (octets: Uint8Array) => Buffer.from(octets).toString('latin1')

async function send(core: TestCore, projectId: string) {
  const project = await core.directory.findProject(projectId)
  assert.ok(project)
  const attached = { filename: 'a.txt', contentType: 'text/plain', content: 'aGVsbG8=' }
  const attachments = [{ ...attached, contentId: null, disposition: 'attachment' as const }]
  const { emails: sent } = await acceptOnce(
    core,
    {
      project,
      request: {
        to: [{ address: address('ada@dest.test'), name: 'Ada' }],
        from: { address: address('shop@shop.test'), name: null },
        ...{ subject: 'Hello {{ name }}', body: '<p>Hi {{ name }}</p>', data: { name: 'Ada' } },
        attachments,
      },
    },
    { idempotency: undefined, toResponseData: ({ emails }) => ({ emails }) },
  )
  return { projectId, id: sent[0]?.id as string }
}

async function open(t: Parameters<typeof openTestCore>[0]) {
  const core = await openTestCore(t)
  const { id: projectId } = await addProject(core)
  await trustDomain(core, projectId, 'shop.test')
  return { core, key: await send(core, projectId) }
}

test('sent mail is composed from its snapshot, with its attachments, and signed', async (t) => {
  const { core, key } = await open(t)
  const raw = text(await readRawEmail(core, key))
  assert.match(raw, /^DKIM-Signature: v=1; a=rsa-sha256;/)
  assert.match(raw, /\r\nTo: Ada <ada@dest\.test>\r\n/)
  assert.match(raw, /\r\nSubject: Hello Ada\r\n/)
  assert.match(raw, /filename="?a\.txt/)
  assert.match(raw, /\r\naGVsbG8=\r\n/)
  assert.match(raw, new RegExp(`Message-ID: <${key.id}@shop\\.test>`))
})

test('the size of sent mail counts To and Cc', async (t) => {
  const { core, key } = await open(t)
  const before = await findRawBytes(core, key)
  const recipientFields = { to: 'a'.repeat(1_000), cc: 'b'.repeat(1_000) }
  await core.store.write((tx) => tx.update(contents).set({ recipientFields }))
  const added = (await findRawBytes(core, key)) - before
  assert.ok(added >= 2_000 && added < 2_100, String(added))
})

test('without its domain the message is not signed', async (t) => {
  const { core, key } = await open(t)
  await core.store.write((tx) => tx.delete(domains))
  core.directory.drop()
  assert.match(text(await readRawEmail(core, key)), /^Date: /)
})

test('an email whose content is gone, and those of other projects, are not found', async (t) => {
  const { core, key } = await open(t)
  const notFound = { code: 'RESOURCE_NOT_FOUND' }
  await assert.rejects(readRawEmail(core, { ...key, id: newId() }), notFound)
  await assert.rejects(readRawEmail(core, { ...key, projectId: newId() }), notFound)
  await core.store.write((tx) => tx.update(contents).set({ body: null }))
  await assert.rejects(readRawEmail(core, key), notFound)
})

test('a message that cannot be composed is refused', async (t) => {
  const { core, key } = await open(t)
  const outbound = { sign: async () => null }
  await assert.rejects(readRawEmail({ ...core, outbound }, key), { code: 'BAD_REQUEST' })
})

test('received mail is the octets that came in, until retention clears them', async (t) => {
  const receiver = await openReceiver(t)
  const { core, project } = receiver
  const raw = 'From: bob@dest.test\r\nSubject: Question\r\n\r\nHow much is it?\r\n'
  await receiver.receive({ to: [receiver.mailbox()], raw, from: 'bob@dest.test' })
  const email = await receiver.latestEmail()
  const key = { projectId: project.id, id: email.id }
  assert.ok(text(await readRawEmail(core, key)).endsWith(raw))
  await core.store.write((tx) =>
    tx.update(emails).set({ deliveredAt: 5 }).where(eq(emails.id, email.id)),
  )
  await assert.rejects(readRawEmail(core, key), { code: 'RESOURCE_NOT_FOUND' })
  await core.store.write((tx) => tx.delete(inboundMessages))
  await assert.rejects(readRawEmail(core, key), { code: 'RESOURCE_NOT_FOUND' })
})
