/** `backup` as a user runs it. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { sql } from '../../src/store/drizzle.ts'
import { backups } from '../../src/store/schema/backups.ts'
import { takeBackupLock } from '../../src/store/snapshot/backup-lock.ts'
import { makeFolder } from '../config/config-folder.ts'
import { changeBackup } from '../features/operation/backup/work.ts'
import { commandsAt, placeDatabase } from './commands-at.ts'

test('a backup that cannot be recorded is made all the same, and the output says so', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { run, withStore } = commandsAt({ cwd, env: { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' } })
  assert.equal((await run('user', 'list')).status, 0)
  await withStore((store) =>
    store.write((tx) =>
      tx.run(sql`create trigger refused before insert on backups
        begin select raise(abort, 'no record'); end`),
    ),
  )
  const file = path.join(cwd, 'backup.tar.zst')
  const made = await run('backup', file)
  assert.equal(made.status, 0, made.err)
  assert.match(made.out, /was written and read back/)
  assert.match(made.out, /The database has no record of this backup: .*no record/)
  assert.equal((await run('verify', file)).status, 0)
})

test('a backup that is refused because another one runs is no failed backup', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const place = { cwd, env: { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' } }
  const { run, failure, withStore } = commandsAt(place)
  const attempts = () => withStore((store) => store.read.$count(backups))
  assert.equal((await run('user', 'list')).status, 0)
  const file = path.join(cwd, 'backup.tar.zst')
  const lock = takeBackupLock(path.join(cwd, 'data', 'pillarbox.db'))
  const { code, message } = await failure('backup', file)
  lock.release()
  assert.deepEqual([code, message], ['CONFLICT', 'Another backup of this database is being made.'])
  assert.equal(await attempts(), 0)
  // Any other failure counts: somebody expects this file to be new.
  assert.equal((await run('backup', file)).status, 0)
  assert.equal((await failure('backup', file)).code, 'CONFLICT')
  assert.equal(await attempts(), 2)
})

test('a path that cannot be a backup is refused by its name', async () => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { run, failure } = commandsAt({ cwd, env: { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' } })
  assert.equal((await run('user', 'list')).status, 0)
  const missing = path.join(cwd, 'missing')
  const backup = await failure('backup', path.join(missing, 'a.tar.zst'))
  assert.deepEqual(
    [backup.code, backup.message],
    ['BAD_REQUEST', `The folder ${missing} does not exist.`],
  )
  const refused = ['BAD_REQUEST', `${cwd} is a folder, and no backup.`]
  for (const argv of [
    ['verify', cwd],
    ['restore', cwd, '--to', missing],
  ]) {
    const { code, message } = await failure(...argv)
    assert.deepEqual([code, message], refused)
  }
  assert.equal(existsSync(missing), false)
})

test('verify and restore write what a foreign backup says of itself without control characters', async (t) => {
  const cwd = makeFolder()
  await placeDatabase(cwd)
  const { run } = commandsAt({ cwd, env: { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' } })
  assert.equal((await run('user', 'list')).status, 0)
  const own = path.join(cwd, 'backup.tar.zst')
  assert.equal((await run('backup', own)).status, 0)
  const hostile = '\u001b[2J\nNext:\n  curl evil.test'
  const outside = [{ key: 'secret_file', place: hostile }]
  const manifest = { hostname: hostile, version: hostile, outside }
  const file = await changeBackup(t, own, { manifest })
  for (const argv of [
    ['verify', file],
    ['restore', file, '--to', path.join(cwd, 'restored')],
  ]) {
    const { status, out, err } = await run(...argv)
    assert.equal(status, 0, err)
    assert.ok(out.includes('curl evil.test'))
    assert.ok(!out.includes('\u001b'))
    assert.ok(!/^ *curl/m.test(out), out)
  }
})
