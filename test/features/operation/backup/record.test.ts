/** What the database remembers about backups. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  type BackupAttempt,
  findLastAttempt,
  findLastBackup,
  recordBackup,
} from '../../../../src/features/operation/backup/record.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { openTestCore, START } from '../../../core.ts'

const attempt = (minute: number, more: Partial<BackupAttempt> = {}): BackupAttempt => ({
  origin: 'command',
  file: `/backups/${minute}.tar.zst`,
  startedAt: START + minute * 60_000,
  endedAt: START + minute * 60_000 + 5_000,
  error: null,
  bytes: 1_000,
  databaseBytes: 4_000,
  ...more,
})

test('without any attempt there is no last backup', async (t) => {
  const core = await openTestCore(t)
  assert.deepEqual(await findLastBackup(core), { verified: undefined, failed: undefined })
})

test('a failure after a backup is told beside it, and no more once another one succeeded', async (t) => {
  const core = await openTestCore(t)
  const failure = attempt(2, { origin: 'schedule', error: 'The disk is full.', bytes: 0 })
  await recordBackup(core, attempt(0, { origin: 'schedule', error: 'an older failure' }))
  await recordBackup(core, attempt(1))
  assert.deepEqual(await findLastBackup(core), { verified: attempt(1), failed: undefined })
  await recordBackup(core, failure)
  assert.deepEqual(await findLastBackup(core), { verified: attempt(1), failed: failure })
  assert.deepEqual(await findLastAttempt(core, 'schedule'), failure)
  await recordBackup(core, attempt(3))
  assert.deepEqual(await findLastBackup(core), { verified: attempt(3), failed: undefined })
})

test('old attempts are forgotten, but never the newest backup that succeeded', async (t) => {
  const core = await openTestCore(t)
  await recordBackup(core, attempt(0))
  await recordBackup(core, attempt(1))
  for (let minute = 2; minute < 230; minute += 1) {
    await recordBackup(core, attempt(minute, { error: 'No space left.' }))
  }
  assert.deepEqual((await findLastBackup(core)).verified, attempt(1))
  const rows = await core.store.read.all<{ rows: number }>(
    sql`select count(*) as rows from backups`,
  )
  assert.equal(rows[0]?.rows, 201)
})
