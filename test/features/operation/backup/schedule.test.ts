/** The schedule of backups: when one is due, what a failure does, and which files are deleted. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { type TestContext, test } from 'node:test'
import { HOUR_MS, MINUTE_MS } from '../../../../src/base/clock.ts'
import {
  backupGauges,
  findLastBackup,
  recordBackup,
} from '../../../../src/features/operation/backup/record.ts'
import {
  type BackupRun,
  createBackupRun,
  startBackups,
} from '../../../../src/features/operation/backup/schedule/schedule.ts'
import { openTestCore, START } from '../../../core.ts'
import { temporaryFolder } from './work.ts'

const NEVER_MS = 1_000_000_000

async function setUp(t: TestContext, keep = 7) {
  const dir = path.join(await temporaryFolder(t), 'backups')
  const core = await openTestCore(t, {
    settings: {
      PILLARBOX_BACKUP__EVERY: '1d',
      PILLARBOX_BACKUP__DIR: dir,
      PILLARBOX_BACKUP__KEEP: String(keep),
    },
  })
  const made: string[] = []
  const plan: { fault: string | null } = { fault: null }
  const run = async (file: string): Promise<BackupRun> => {
    if (plan.fault !== null) return { error: plan.fault }
    await writeFile(file, 'a backup')
    made.push(path.basename(file))
    return { bytes: 8, databaseBytes: 4_096 }
  }
  const start = () => {
    const backups = startBackups(core, { run, pollMs: NEVER_MS })
    t.after(backups.stop)
    return backups
  }
  return { core, dir, made, plan, run, start, reasons: () => core.health.reasons() }
}

test('the first backup is due at once, the next one a day later, and a restart changes nothing', async (t) => {
  const { core, made, start } = await setUp(t)
  const first = start()
  await first.poll()
  assert.deepEqual(made, ['pillarbox-20261121T120000Z.tar.zst'])
  await first.stop()
  core.clock.now = START + 24 * HOUR_MS - 1
  const second = start()
  await second.poll()
  assert.equal(made.length, 1)
  core.clock.now += 1
  await second.poll()
  await second.poll()
  assert.deepEqual(made.slice(1), ['pillarbox-20261122T120000Z.tar.zst'])
})

test('a backup that the server missed while it was stopped is made once', async (t) => {
  const { core, made, start } = await setUp(t)
  await start().poll()
  core.clock.now = START + 10 * 24 * HOUR_MS
  const later = start()
  await later.poll()
  await later.poll()
  assert.equal(made.length, 2)
})

test('a failure is told by /health and tried again after a quarter of an hour', async (t) => {
  const { core, made, plan, start, reasons } = await setUp(t)
  plan.fault = 'The disk is full.'
  const backups = start()
  await backups.poll()
  assert.deepEqual(reasons(), [
    {
      cause: 'backup',
      reason: 'The last scheduled backup failed and is tried again: The disk is full.',
    },
  ])
  assert.equal((await findLastBackup(core)).failed?.error, 'The disk is full.')
  plan.fault = null
  core.clock.now += 15 * MINUTE_MS - 1
  await backups.poll()
  assert.equal(made.length, 0)
  core.clock.now += 1
  await backups.poll()
  assert.equal(made.length, 1)
  assert.deepEqual(reasons(), [])
})

test('a backup by a command ends the reason, and does not delay the schedule', async (t) => {
  const { core, plan, start, reasons, made } = await setUp(t)
  plan.fault = 'no'
  const backups = start()
  await backups.poll()
  const at = core.now()
  const attempt = { origin: 'command', file: 'x', startedAt: at, endedAt: at + 2_000 } as const
  await recordBackup(core, { ...attempt, error: null, bytes: 5, databaseBytes: 6 })
  await backups.poll()
  assert.deepEqual(reasons(), [])
  plan.fault = null
  core.clock.now += 15 * MINUTE_MS
  await backups.poll()
  assert.equal(made.length, 1)
})

test('the oldest backups are deleted after a new one, and nothing else is', async (t) => {
  const { core, dir, start, plan } = await setUp(t, 2)
  const backups = start()
  await backups.poll()
  for (const name of [
    'notes.txt',
    'pillarbox-mine.tar.zst',
    'pillarbox-20200101T000000Z.tar.zst.old',
  ])
    await writeFile(path.join(dir, name), 'mine')
  core.clock.now += 24 * HOUR_MS
  await backups.poll()
  plan.fault = 'no'
  core.clock.now += 24 * HOUR_MS
  await backups.poll()
  assert.ok(
    existsSync(path.join(dir, 'pillarbox-20261121T120000Z.tar.zst')),
    'a failure deletes none',
  )
  plan.fault = null
  core.clock.now += HOUR_MS
  await backups.poll()
  assert.deepEqual((await readdir(dir)).sort(), [
    'notes.txt',
    'pillarbox-20200101T000000Z.tar.zst.old',
    'pillarbox-20261122T120000Z.tar.zst',
    'pillarbox-20261123T130000Z.tar.zst',
    'pillarbox-mine.tar.zst',
  ])
})

test('a stop ends the backup under way, which is due again afterwards', async (t) => {
  const { core, made, start } = await setUp(t)
  const hanging = startBackups(core, {
    pollMs: NEVER_MS,
    run: (_, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ error: 'killed' }))
      }),
  })
  await hanging.stop()
  assert.deepEqual(await findLastBackup(core), { verified: undefined, failed: undefined })
  await start().poll()
  assert.equal(made.length, 1)
})

test('a clock that was years ahead does not end the schedule', async (t) => {
  const { core, made, start } = await setUp(t)
  core.clock.now = START + 3_000 * 24 * HOUR_MS
  await start().poll()
  core.clock.now = START
  await start().poll()
  assert.equal(made.length, 2)
})

test('a new backup is kept though others were made by a clock that was ahead', async (t) => {
  const { core, dir, made, start } = await setUp(t, 2)
  for (let day = 3_000; day < 3_003; day += 1) {
    core.clock.now = START + day * 24 * HOUR_MS
    await start().poll()
  }
  core.clock.now = START
  for (let day = 0; day < 3; day += 1) {
    await start().poll()
    core.clock.now += 24 * HOUR_MS
  }
  assert.equal(made.length, 6)
  assert.deepEqual((await readdir(dir)).sort(), made.slice(-2))
})

test('a backup whose record cannot be written is recorded later, and not made again', async (t) => {
  const { core, made, run } = await setUp(t)
  let isWritable = true
  const write: typeof core.store.write = (...args) =>
    isWritable ? core.store.write(...args) : Promise.reject(new Error('not writable'))
  const backups = startBackups(
    { ...core, store: { ...core.store, write } },
    {
      pollMs: NEVER_MS,
      run: (file) => {
        isWritable = false
        return run(file)
      },
    },
  )
  t.after(backups.stop)
  await backups.poll()
  core.clock.now += HOUR_MS
  await backups.poll()
  assert.equal((await findLastBackup(core)).verified, undefined)
  isWritable = true
  await backups.poll()
  assert.equal((await findLastBackup(core)).verified?.startedAt, START)
  assert.deepEqual(made, ['pillarbox-20261121T120000Z.tar.zst'])
})

test('without backup.every there are no backups', async (t) => {
  const core = await openTestCore(t)
  const backups = startBackups(core, { run: async () => assert.fail('a backup was made') })
  await backups.poll()
  await backups.stop()
})

test('the gauges tell of the last backup that was verified', async (t) => {
  const { core, plan, start } = await setUp(t)
  const gauges = backupGauges(core)
  for (const { read } of gauges) assert.deepEqual(await read(), [])
  const backups = start()
  await backups.poll()
  plan.fault = 'no'
  core.clock.now += 24 * HOUR_MS
  await backups.poll()
  const values = await Promise.all(
    gauges.map(async ({ name, read }) => [name, (await read())[0]?.value]),
  )
  assert.deepEqual(Object.fromEntries(values), {
    pillarbox_last_backup_timestamp_seconds: START / 1_000,
    pillarbox_last_backup_bytes: 8,
    pillarbox_last_backup_duration_seconds: 0,
  })
})

test('a process of its own makes the backup, and its failure comes back as a text', async (t) => {
  const core = await openTestCore(t)
  const file = path.join(await temporaryFolder(t), 'pillarbox.toml')
  const folder = await temporaryFolder(t)
  const { dataDir } = core.config
  await writeFile(file, `data_dir = ${JSON.stringify(dataDir)}\n[backup]\nmin_free_bytes = 0\n`)
  await writeFile(path.join(dataDir, 'secret'), `${'a secret of the file '.repeat(3)}\n`)
  const run = createBackupRun({ file })
  const { signal } = new AbortController()
  const target = path.join(folder, 'a.tar.zst')
  const first = await run(target, signal)
  assert.ok('bytes' in first && first.bytes > 0, JSON.stringify(first))
  assert.ok(existsSync(target))
  assert.deepEqual(await run(target, signal), {
    error: `${target} already exists and was not changed.`,
  })
  // The server records its backups itself.
  assert.deepEqual(await findLastBackup(core), { verified: undefined, failed: undefined })
})
