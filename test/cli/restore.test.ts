/** `restore` and `verify` as a user runs them. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { describeStart } from '../../src/cli/restore.ts'
import { SYSTEM_FILE } from '../../src/config/layers/file.ts'
import { makeFolder } from '../config/config-folder.ts'
import { runAt } from '../fakes/terminal.ts'
import { STRANGER, skipOther } from './engine/other-owner.ts'

test('root restores a backup that only root can read, into a folder of another user', {
  skip: skipOther,
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

test('files at relative paths of the configuration are to be copied to where the restored one looks', async () => {
  const cwd = makeFolder()
  const settings = [
    'data_dir = "data"',
    '[backup]\nmin_free_bytes = 0',
    '[inbound]\ntls_cert = "tls/cert.pem"\ntls_key = "/elsewhere/key.pem"',
    '[http]\ntls_cert = "of-file.pem"\ntls_key = "key.pem"',
  ]
  writeFileSync(path.join(cwd, 'pillarbox.toml'), settings.join('\n'))
  const env = { PILLARBOX_HTTP__TLS_CERT: '/of-environment.pem' }
  const run = (...argv: string[]) => runAt({ cwd, env }, ...argv)
  const made = await run('user', 'create', '--email', 'a@example.test')
  assert.equal(made.status, 0, made.err)
  assert.equal((await run('backup', 'backup.tar.zst')).status, 0)
  const { status, out, err } = await run('restore', 'backup.tar.zst', '--to', 'new')
  assert.equal(status, 0, err)
  const listed = out.split('Not inside the backup, and needed:\n')[1]?.split('\n\n')[0]
  assert.deepEqual(listed?.split('\n').toSorted(), [
    `  http.tls_cert  /of-environment.pem`,
    `  http.tls_cert  environment variable PILLARBOX_HTTP__TLS_CERT`,
    `  http.tls_key  copy ${cwd}/key.pem to ${cwd}/new/key.pem`,
    `  inbound.tls_cert  copy ${cwd}/tls/cert.pem to ${cwd}/new/tls/cert.pem`,
    `  inbound.tls_key  /elsewhere/key.pem`,
    `  submission.tls_cert  copy ${cwd}/tls/cert.pem to ${cwd}/new/tls/cert.pem`,
    `  submission.tls_key  /elsewhere/key.pem`,
  ])
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

test('the next command after a restore is systemctl where the service is installed', () => {
  const serve = 'pillarbox --config /data/pillarbox.toml serve'
  const config = '/data/pillarbox.toml'
  assert.equal(describeStart(serve, { config, hasUnit: false }), serve)
  assert.equal(
    describeStart(serve, { config: SYSTEM_FILE, hasUnit: true }),
    'systemctl start pillarbox',
  )
  const both = describeStart(serve, { config, hasUnit: true })
  assert.ok(
    both.startsWith(`${serve} `) && both.endsWith(`${SYSTEM_FILE}: systemctl start pillarbox`),
  )
})
