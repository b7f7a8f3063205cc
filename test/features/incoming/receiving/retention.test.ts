import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DAY_MS } from '../../../../src/base/clock.ts'
import {
  deleteExpiredInboundMessages,
  listAgedMessages,
  selectListed,
} from '../../../../src/features/incoming/receiving/inbound-messages.ts'
import {
  countReceived,
  deleteExpiredReceived,
} from '../../../../src/features/incoming/receiving/limits.ts'
import { selectPending } from '../../../../src/features/incoming/receiving/process/lines.ts'
import {
  findByCustomId,
  findByOwnId,
  findByProviderId,
} from '../../../../src/features/incoming/receiving/process/own-mail.ts'
import {
  markFirstSuspects,
  selectSuspect,
} from '../../../../src/features/incoming/receiving/process/suspects.ts'
import {
  findLastDelivery,
  STRIKES,
  summariseStrikes,
} from '../../../../src/features/mail/messages/outcome/strikes.ts'
import {
  findFinalReport,
  findReport,
} from '../../../../src/features/mail/messages/outcome/write-report.ts'
import { selectSubscribed } from '../../../../src/features/people/contacts/write/unsubscribe-addresses.ts'
import type { Statement } from '../../../../src/store/database.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { newId } from '../../../../src/store/ids.ts'
import { inboundMessages } from '../../../../src/store/schema/inbound.ts'
import { strikes } from '../../../../src/store/schema/suppressions.ts'
import { deleteExpired } from '../../../../src/work/retention.ts'
import { START } from '../../../core.ts'
import { openSender } from '../../mail/messages/sender.ts'

type Row = typeof inboundMessages.$inferInsert

const rowOf = (days: number, change: Partial<Row>): Row => ({
  ...{ id: newId(), receivedAt: START - days * DAY_MS, state: 'processed', reversePath: '' },
  ...{ recipients: [], clientAddress: '192.0.2.1', clientName: 'x', sizeBytes: 1 },
  raw: Buffer.from('x'),
  ...change,
})

test('reports expire after 30 days, mail and failed messages after retention, pending ones never', async (t) => {
  const { core } = await openSender(t)
  const rows: [string, Row][] = [
    ['young report', rowOf(29, { raw: null, kind: 'bounce' })],
    ['old report', rowOf(31, { raw: null, kind: 'bounce' })],
    ['old noise', rowOf(31, { kind: 'other' })],
    ['young mail', rowOf(89, { kind: 'mail' })],
    ['old mail', rowOf(91, { kind: 'mail' })],
    ['young failure', rowOf(89, { state: 'failed' })],
    ['old failure', rowOf(91, { state: 'failed' })],
    ['waiting', rowOf(400, { state: 'pending' })],
  ]
  await core.store.write((tx) =>
    tx
      .insert(inboundMessages)
      .values(rows.map(([, row]) => row))
      .run(),
  )
  assert.equal(await deleteExpiredInboundMessages(core), 4)
  const left = await core.store.read.select().from(inboundMessages).all()
  const names = new Map(rows.map(([name, { id }]) => [id, name]))
  assert.deepEqual(
    left.map(({ id }) => names.get(id)),
    ['young report', 'young mail', 'young failure', 'waiting'],
  )
})

test('many old rows are deleted in chunks', async (t) => {
  const { core } = await openSender(t)
  const rows = Array.from({ length: 620 }, (_, index) =>
    rowOf(40, index % 2 === 0 ? { raw: null, kind: 'bounce' } : { kind: 'mail' }),
  )
  await core.store.write((tx) => tx.insert(inboundMessages).values(rows).run())
  assert.equal(await deleteExpiredInboundMessages(core), 310)
  assert.equal(await core.store.read.$count(inboundMessages), 310)
})

test('large rows are deleted one by one, so that no other write waits long', async (t) => {
  const { core } = await openSender(t)
  const large = { kind: 'mail', sizeBytes: 20_000_000 } as const
  const rows = [0, 1, 2].map(() => rowOf(100, large))
  await core.store.write((tx) => tx.insert(inboundMessages).values(rows).run())
  const write = t.mock.method(core.store, 'write')
  assert.equal(await deleteExpiredInboundMessages(core), 3)
  assert.equal(write.mock.callCount(), 3)
})

test('strikes are deleted after half a year', async (t) => {
  const { core, project } = await openSender(t)
  const strike = { projectId: project.id, address: 'a@b.test', reason: 'mailboxfull' }
  const at = (days: number) => ({ ...strike, emailId: newId(), at: START - days * DAY_MS })
  await core.store.write((tx) =>
    tx
      .insert(strikes)
      .values([at(179), at(181), at(400)])
      .run(),
  )
  assert.equal(await deleteExpired(core, STRIKES), 2)
  assert.equal(await core.store.read.$count(strikes), 1)
})

const statements: [string, Statement<unknown>][] = [
  ['expired messages', listAgedMessages],
  ['pending messages', selectPending],
  ['the next suspect', selectSuspect],
  ['messages that may have been in work', markFirstSuspects],
  ['an answered email by the Message-ID of this server', findByOwnId],
  ['an answered email by a Message-ID of the client', findByCustomId],
  ['an answered email by the smarthost’s id', findByProviderId],
  ['recent mail of a sender', countReceived],
  ['mail of a sender that is an hour old', deleteExpiredReceived],
  ['the last delivery to a contact', findLastDelivery],
  ['strikes', summariseStrikes],
  ['a report', findReport],
  ['the report that ended an email', findFinalReport],
  ['contacts to unsubscribe', selectSubscribed],
]

for (const [name, statement] of statements) {
  test(`the query for ${name} reads no whole table`, async (t) => {
    const { core } = await openSender(t)
    const { text } = statement.compiled()
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${text.replaceAll('?', 'null')}`),
    )
    const steps = plan.map(({ detail }) => detail)
    const tables = 'inbound_messages|received_recently|emails|strikes|attempts|contacts'
    const whole = steps.filter((step) => new RegExp(`^SCAN (?:${tables})(?! USING)`).test(step))
    assert.deepEqual(whole, [], steps.join('\n'))
  })
}

const indexed: [string, Statement<unknown>, RegExp][] = [
  ['suspects', selectSuspect, /USING INDEX inbound_messages_suspects$/],
  ['messages for operators', selectListed, /USING INDEX inbound_messages_operator$/],
]

for (const [name, statement, index] of indexed) {
  test(`the query for ${name} reads no other rows and sorts none`, async (t) => {
    const { core } = await openSender(t)
    const plan = await core.store.read.all<{ detail: string }>(
      sql.raw(`explain query plan ${statement.compiled().text.replaceAll('?', '1')}`),
    )
    assert.equal(plan.length, 1, plan.map(({ detail }) => detail).join('\n'))
    assert.match(plan[0]?.detail ?? '', index)
  })
}

test('the query for the pending messages of a kind reads no others, and as many of a line as it may', async (t) => {
  const { core } = await openSender(t)
  const plan = await core.store.read.all<{ detail: string }>(
    sql.raw(`explain query plan ${selectPending.compiled().text.replaceAll('?', '1')}`),
  )
  const reads = plan.map(({ detail }) => detail).filter((step) => step.includes('inbound_messages'))
  assert.ok(reads.length >= 3, plan.map(({ detail }) => detail).join('\n'))
  for (const step of reads) {
    assert.match(
      step,
      /USING (?:COVERING )?INDEX (?:inbound_messages_pending|sqlite_autoindex_inbound_messages_1)/,
    )
  }
})
