/** `restore` and `verify` as a user runs them. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, statSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../config/config-folder.ts'
import { runAt } from '../fakes/terminal.ts'

const skip = process.geteuid?.() === 0 ? false : 'only root can read the files of others'
/** The uid of `nobody` on most systems; the account need not exist. */
const STRANGER = 65_534

test('root restores a backup that only root can read, into a folder of another user', {
  skip,
}, async () => {
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const env = { PILLARBOX_BACKUP__MIN_FREE_BYTES: '0' }
  const run = (...argv: string[]) => runAt({ cwd, env }, ...argv)
  const password = ['--password', 'correct horse battery staple']
  assert.equal((await run('user', 'create', '--email', 'a@example.test', ...password)).status, 0)
  mkdirSync(path.join(cwd, 'of-root'), { mode: 0o700 })
  const file = path.join(cwd, 'of-root', 'backup.tar.zst')
  assert.equal((await run('backup', file)).status, 0)
  const folder = path.join(cwd, 'restored')
  mkdirSync(folder)
  chownSync(folder, STRANGER, STRANGER)
  const restored = await run('restore', file, '--to', folder)
  assert.deepEqual([restored.status, restored.err], [0, ''])
  assert.equal(statSync(path.join(folder, 'pillarbox.db')).uid, STRANGER)
})

test('a file that is not there, and a folder, are no backups', async () => {
  const cwd = makeFolder()
  for (const command of [['verify'], ['restore', '--to', 'restored']]) {
    const missing = await runAt({ cwd }, ...command, 'none.tar.zst')
    assert.equal(missing.status, 1)
    assert.match(missing.err, /There is no file .*none\.tar\.zst/)
    assert.equal((await runAt({ cwd }, ...command, '.')).status, 1)
  }
})
