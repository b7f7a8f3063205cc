import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import {
  listInboundMessages,
  retryInboundMessages,
} from '../../../../src/features/incoming/receiving/inbound-messages.ts'
import { createLineWalks } from '../../../../src/features/incoming/receiving/process/lines.ts'
import { startProcessing } from '../../../../src/features/incoming/receiving/process/process.ts'
import { readIncomingHeader } from '../../../../src/formats/incoming/header.ts'
import { readReport } from '../../../../src/formats/report/read-report.ts'
import { asc, sql } from '../../../../src/store/drizzle.ts'
import { inboundMessages, inboundUsage } from '../../../../src/store/schema/inbound.ts'
import type { PendingKind } from '../../../../src/store/schema/words.ts'
import { openStore } from '../../../../src/store/store.ts'
import { openTestCore } from '../../../core.ts'
import { openBefore } from '../../../store/open-before.ts'

const log = silentLog()
const mailbox = '{"for":"mailbox","address":"a@shop.test","projectId":"p"}'
const second = '{"for":"mailbox","address":"b@shop.test","projectId":"p"}'
const server = '{"for":"server","address":"postmaster"}'
const returned = '{"for":"return-path","address":"b.x@shop.test","emailId":"e"}'

const rows: [id: string, state: string, recipients: string, bytes: number, attempts: number][] = [
  ['1', 'processed', `[${mailbox},${second}]`, 100, 1],
  ['2', 'processed', `[${mailbox},${server}]`, 20, 0],
  ['3', 'pending', `[${returned}]`, 3, 2],
  ['4', 'failed', `[${server}]`, 4_000, 3],
]

test('a migrated database counts its stored bytes, and none of its messages has an attempt', async (t) => {
  const { before, file } = await openBefore(t, 2)
  await before.write(async (tx) => {
    for (const [id, state, recipients, bytes, attempts] of rows) {
      await tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients,
          client_address, client_name, size_bytes, raw, attempts)
        values (${id}, 1, ${state}, '', ${recipients}, '', '', ${bytes}, x'00', ${attempts})`)
    }
    await tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients,
        client_address, client_name, size_bytes)
      values ('5', 1, 'processed', '', ${`[${returned}]`}, '', '', 50000)`)
  })
  await before.close()
  const store = await openStore({ path: file, log })
  t.after(() => store.close())
  const usage = await store.read.select().from(inboundUsage).orderBy(asc(inboundUsage.owner))
  assert.deepEqual(usage, [
    { owner: 'p', bytes: 120 },
    { owner: 'reports', bytes: 3 },
    { owner: 'server', bytes: 4_020 },
  ])
  const { id, attempts, isSuspect } = inboundMessages
  const pending = await store.read
    .select({ id, attempts, isSuspect })
    .from(inboundMessages)
    .where(sql`state = 'pending'`)
  assert.deepEqual(pending, [{ id: '3', attempts: 0, isSuspect: true }])
})

test('pending mail and reports of a database before migration 9 are processed by kind', async (t) => {
  const { before, file } = await openBefore(t, 9)
  const pending: [id: string, state: string, recipients: string][] = [
    ['1', 'pending', `[${returned}]`],
    ['2', 'pending', `[${returned},${mailbox}]`],
    ['3', 'pending', `[${mailbox},${server}]`],
    ['4', 'pending', `[${server}]`],
    ['5', 'failed', `[${mailbox}]`],
    ['6', 'processed', `[${server}]`],
    ['7', 'processed', `[${mailbox}]`],
  ]
  await before.write(async (tx) => {
    for (const [id, state, recipients] of pending) {
      await tx.run(sql`insert into inbound_messages (id, received_at, state, reverse_path, recipients,
          client_address, client_name, size_bytes, raw)
        values (${id}, 1, ${state}, '', ${recipients}, '192.0.2.1', 'x', 4, ${Buffer.from('A: b')})`)
    }
    await tx.run(sql`update inbound_reading set is_under_way = 0`)
  })
  await before.close()

  const store = await openStore({ path: file, log })
  t.after(() => store.close())
  const core = { ...(await openTestCore(t)), store }
  const idsOf = async (kind: PendingKind) =>
    (await createLineWalks(core).list({ kind, limit: 10, ofLine: 10 })).map(({ id }) => id)
  assert.deepEqual(
    [await idsOf('reports'), await idsOf('mail')],
    [
      ['1', '4'],
      ['2', '3'],
    ],
  )
  const lines = await store.read.all<{ line: string }>(
    sql`select line from inbound_messages order by id`,
  )
  assert.deepEqual(
    lines.map(({ line }) => line),
    ['', 'p', 'p', '', 'p', '', ''],
    'those that may wait have the project of their first mailbox',
  )
  const listed = await listInboundMessages(core)
  assert.deepEqual(
    listed.map(({ id }) => id),
    ['6', '5', '4', '3'],
  )
  await retryInboundMessages(core, ['5'])

  const parsed: [isMail: boolean, isAlone: boolean][] = []
  const processing = await startProcessing(core, {
    read: async ({ raw, isMail }, { isAlone }) => {
      parsed.push([isMail, isAlone])
      const octets = Buffer.from(raw)
      const header = readIncomingHeader(octets)
      return {
        report: readReport(octets),
        header,
        automatic: null,
        mail: null,
        kept: null,
        durationMs: 1,
      }
    },
  })
  await processing.idle()
  await processing.stop()
  assert.deepEqual(parsed.toSorted(), [
    [false, false],
    [false, false],
    [true, false],
    [true, false],
    [true, true],
  ])
  assert.equal(await core.store.read.$count(inboundMessages, sql`state <> 'processed'`), 0)
})
