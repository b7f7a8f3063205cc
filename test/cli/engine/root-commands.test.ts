/** Root runs a command of another user's server: no file of root is left in its data folder. */
import assert from 'node:assert/strict'
import { chmodSync, chownSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { listForeign, makeServer, pillarbox, STRANGER, skipOther } from './other-owner.ts'

test("a configuration of root leaves a new data_dir to the folder's owner", {
  skip: skipOther,
}, () => {
  const { data, home, file } = makeServer()
  chmodSync(file, 0o644)
  chownSync(file, 0, 0)
  const env = { PILLARBOX_DATA_DIR: path.join(data, 'new') }
  const made = pillarbox({ cwd: home, env }, '--config', file, 'user', 'list')
  assert.equal(made.status, 0, made.err)
  assert.deepEqual(listForeign(data, STRANGER), [])
})

test('no command of root leaves a file of root in data_dir', { skip: skipOther }, () => {
  const { data, home, file } = makeServer()
  const run = (...argv: string[]) => pillarbox({ cwd: home }, '--config', file, ...argv)
  const made = run('user', 'create', '--email', 'ann@example.test')
  assert.equal(made.status, 0, made.err)
  const created = run(
    'project',
    'create',
    '--name',
    'Shop',
    '--owner',
    'ann@example.test',
    '--json',
  )
  const { id } = JSON.parse(created.out)
  const html = ['--subject', 'Hello', '--html', '<p>Hello</p>']
  for (const argv of [
    ['domain', 'add', '--project', id, 'example.test'],
    ['domain', 'verify', 'example.test', '--trust'],
    ['send', '--project', id, '--from', 'a@example.test', '--to', 'b@example.net', ...html],
    ['queue', 'list'],
    ['queue', 'hold', '--domain', 'example.net'],
    ['suppressions', 'list'],
    ['fence'],
    ['backup', path.join(data, 'copy.tar.zst')],
    ['verify', path.join(data, 'copy.tar.zst')],
    ['export', '--project', id, '--to', path.join(data, 'export')],
    ['config', 'check'],
    ['sandbox', 'list'],
    ['log', 'level'],
  ]) {
    const { err } = run(...argv)
    assert.doesNotMatch(err, /EACCES|CANTOPEN|do not belong/, argv.join(' '))
    assert.deepEqual(listForeign(data, STRANGER), [], argv.join(' '))
  }
})

test("config check of root warns about root's data_dir of another user's server", {
  skip: skipOther,
}, () => {
  const { data, home, file } = makeServer()
  chownSync(data, 0, 0)
  writeFileSync(path.join(data, 'secret'), `${'x'.repeat(64)}\n`)
  const { status, out } = pillarbox({ cwd: home }, '--config', file, 'config', 'check')
  assert.equal(status, 0)
  assert.match(out, /^Warning: data_dir belongs to root, but the configuration file does not/m)
  assert.ok(out.includes(`To repair it: chown -R nobody: ${data}`), out)
})

test('config check of root tells a folder out of reach of the server from one that is not there', {
  skip: skipOther,
}, () => {
  const { home, file } = makeServer()
  const settings = readFileSync(file, 'utf8')
  const checkWith = (folder: string) => {
    writeFileSync(file, `${settings}dir = ${JSON.stringify(folder)}\n`)
    return pillarbox({ cwd: '/' }, '--config', file, 'config', 'check').out
  }
  mkdirSync(path.join(home, 'copies'))
  const out = checkWith(path.join(home, 'copies'))
  assert.ok(out.includes(`Warning: backup.dir is a place in ${home}, which the user `), out)
  assert.ok(out.includes(` cannot enter: ${home}/copies`), out)
  assert.doesNotMatch(out, /does not exist/)
  const typo = path.join(path.dirname(home), 'typo')
  assert.ok(checkWith(typo).includes(`Warning: backup.dir does not exist yet: ${typo}.`))
})
