import assert from 'node:assert/strict'
import { test } from 'node:test'
import { acceptInboundMessage } from '../../../../../src/features/incoming/receiving/accept/accept-message.ts'
import { deleteInboundMessages } from '../../../../../src/features/incoming/receiving/inbound-messages.ts'
import {
  clientNetworkOf,
  createServerMailLimit,
  MailboxFull,
} from '../../../../../src/features/incoming/receiving/limits.ts'
import { inboundMessages, inboundUsage } from '../../../../../src/store/schema/inbound.ts'
import type { InboundRecipient } from '../../../../../src/store/schema/json-values.ts'
import { buildMessage, openReceiver, type Receiver, shareReader } from '../receiver.ts'

const shared = shareReader()
const server = { for: 'server', address: 'postmaster' } as const
const MIB = 1024 * 1024

const usage = async ({ core }: Receiver) => {
  const rows = await core.store.read.select().from(inboundUsage)
  return Object.fromEntries(rows.map(({ owner, bytes }) => [owner, bytes]))
}

const keep = ({ core }: Receiver, recipients: InboundRecipient[], bytes = 1_000) =>
  acceptInboundMessage(core, {
    ...{
      reversePath: '',
      clientAddress: '192.0.2.1',
      clientName: 'x',
      protocol: 'SMTP',
      tls: null,
    },
    ...{ recipients, content: [Buffer.alloc(bytes, 'x')] },
  })

test('stored bytes are counted by owner, through any inserts and deletions', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const projectId = receiver.project.id
  const own = { for: 'mailbox', address: 'help@example.test', projectId } as const
  const other = { for: 'mailbox', address: 'sales@example.test', projectId } as const
  const both = await receiver.receive({ to: [own, other, server], raw: buildMessage({}) })
  assert.deepEqual(await usage(receiver), { [projectId]: both.sizeBytes, server: both.sizeBytes })
  // A report loses its text when it was read.
  await receiver.receive({ to: [receiver.unsubscribeAddress(id)], raw: buildMessage({}) })
  assert.deepEqual(await usage(receiver), {
    [projectId]: both.sizeBytes,
    server: both.sizeBytes,
    reports: 0,
  })
  const second = await receiver.receive({ to: [own], raw: buildMessage({}, 'Hello again') })
  assert.equal((await usage(receiver))[projectId], both.sizeBytes + second.sizeBytes)
  await deleteInboundMessages(receiver.core, [both.id])
  assert.deepEqual(await usage(receiver), { [projectId]: second.sizeBytes, server: 0, reports: 0 })
  await receiver.core.store.write((tx) => tx.delete(inboundMessages))
  assert.deepEqual(await usage(receiver), { [projectId]: 0, server: 0, reports: 0 })
})

test('the limit of stored bytes applies to each project separately', async (t) => {
  const receiver = await openReceiver(t, shared)
  const { core } = receiver
  core.config = { ...core.config, inbound: { ...core.config.inbound, maxBytesPerProject: 5_000 } }
  const own = receiver.mailbox()
  await keep(receiver, [own], 3_000)
  await assert.rejects(keep(receiver, [own], 2_000), MailboxFull)
  const other = receiver.mailbox('info@other.test', 'another')
  await assert.rejects(keep(receiver, [other, own], 2_000), MailboxFull)
  await keep(receiver, [other], 2_000)
  await keep(receiver, [own], 1_000)
  assert.equal(await core.store.read.$count(inboundMessages), 3)
})

test('mail to the server itself is limited to 100 MB in all', async (t) => {
  const receiver = await openReceiver(t, shared)
  await receiver.processing.stop()
  const almost = [{ owner: 'server', bytes: 100 * MIB - 1_500 }]
  await receiver.core.store.write((tx) => tx.insert(inboundUsage).values(almost))
  await keep(receiver, [server])
  await assert.rejects(keep(receiver, [server]), MailboxFull)
  await keep(receiver, [receiver.returnPath(await receiver.deliver())])
})

test('unrecognised mail to a return path is stored within limits', async (t) => {
  const receiver = await openReceiver(t, shared)
  const id = await receiver.deliver()
  const small = await receiver.receive({ to: [receiver.returnPath(id)], raw: buildMessage({}) })
  assert.deepEqual([small.kind, small.raw === null], ['other', false])
  const large = buildMessage({}, 'x'.repeat(2 * MIB))
  assert.equal((await receiver.receive({ to: [receiver.returnPath(id)], raw: large })).raw, null)
  const full = { bytes: 100 * MIB }
  await receiver.core.store.write((tx) => tx.update(inboundUsage).set(full))
  assert.equal(
    (await receiver.receive({ to: [receiver.returnPath(id)], raw: buildMessage({}) })).raw,
    null,
  )
})

test('a network can send 20 messages an hour to the server itself', () => {
  let at = 1_700_000_000_000
  const serverMailLimit = createServerMailLimit(() => at)
  for (let count = 0; count < 20; count += 1) {
    assert.ok(serverMailLimit.allows(`192.0.2.${count}`))
    assert.ok(serverMailLimit.count(`192.0.2.${count}`))
  }
  assert.equal(serverMailLimit.allows('192.0.2.99'), false)
  assert.equal(serverMailLimit.count('192.0.2.99'), undefined)
  assert.ok(serverMailLimit.allows('192.0.3.1'))
  at += 3_599_999
  assert.equal(serverMailLimit.allows('192.0.2.1'), false)
  at += 1
  const takeBack = serverMailLimit.count('192.0.2.1')
  for (let count = 1; count < 20; count += 1) assert.ok(serverMailLimit.count('192.0.2.1'))
  assert.equal(serverMailLimit.count('192.0.2.1'), undefined)
  takeBack?.()
  assert.ok(serverMailLimit.count('192.0.2.1'))
  // A clock that was set back blocks no network for longer.
  at -= 86_400_000
  assert.ok(serverMailLimit.allows('192.0.2.1'))
})

test('a network is a /24 of IPv4 or a /48 of IPv6', () => {
  const cases: [string, string][] = [
    ['192.0.2.77', '192.0.2.0/24'],
    ['::ffff:192.0.2.77', '192.0.2.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1::/48'],
    ['2001:db8:1:ffff::', '2001:db8:1::/48'],
    ['', ''],
    ['unknown', 'unknown'],
  ]
  for (const [address, network] of cases) assert.equal(clientNetworkOf(address), network)
})
