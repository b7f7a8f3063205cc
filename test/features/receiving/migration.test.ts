import assert from 'node:assert/strict'
import { copyFile, mkdir } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../../src/log.ts'
import { asc, sql } from '../../../src/store/drizzle.ts'
import { inboundMessages, inboundUsage } from '../../../src/store/schema/inbound.ts'
import { openStore } from '../../../src/store/store.ts'
import { makeDatabaseFolder } from '../../store/test-store.ts'

const log = silentLog()
const first = path.join(import.meta.dirname, '../../../migrations/sqlite/0001_initial.sql')
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
  const { folder, path: file } = await makeDatabaseFolder(t)
  const migrationsDir = path.join(folder, 'before')
  await mkdir(migrationsDir)
  await copyFile(first, path.join(migrationsDir, '0001_initial.sql'))
  const before = await openStore({ path: file, log, migrationsDir })
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
