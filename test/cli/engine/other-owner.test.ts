/** Files that the user of the server, or of a command, may not use: the refusal names the remedy. */
import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { makeFolder } from '../../config/config-folder.ts'
import { makeServer, pillarbox, SOURCE, STRANGER, serveAs, skipOther } from './other-owner.ts'

test('files of root in data_dir are named with the command that gives them away', {
  skip: skipOther,
}, async () => {
  const { data, home, file } = makeServer()
  const made = pillarbox({ cwd: home }, '--config', file, 'user', 'list')
  assert.equal(made.status, 0, made.err)
  for (const name of ['secret', 'pillarbox.db', 'pillarbox.db.serving']) {
    const place = path.join(data, name)
    writeFileSync(place, '', { flag: 'a', mode: 0o600 })
    chownSync(place, 0, 0)
    const refused = `pillarbox: ${data} has files that do not belong to the user nobody: ${name}\nAs root, run "chown -R nobody: ${data}".\n`
    const none = () => assert.fail('it serves')
    for (const uid of [undefined, STRANGER]) {
      const cwd = uid === undefined ? home : '/'
      const { status, err } = await serveAs({ cwd, ...(uid && { uid }) }, none, '--config', file)
      assert.equal(status, 1)
      assert.ok(err.endsWith(refused), err)
    }
    chownSync(place, STRANGER, STRANGER)
  }
})

test('a configuration that only root can read is refused with the command that mends it', {
  skip: skipOther,
}, () => {
  const { home, file } = makeServer()
  chownSync(file, 0, 0)
  for (const argv of [['serve'], ['config', 'check']]) {
    const { status, err } = pillarbox({ cwd: home }, '--config', file, ...argv)
    assert.equal(status, 2)
    const remedy = `if the server runs as nobody, as root run "chown -R nobody: ${file}", otherwise run it as root`
    assert.ok(err.endsWith(`; ${remedy}\n`), err)
  }
})

test("a user who may not read root's data_dir is told both ways", { skip: skipOther }, () => {
  const { etc, data, file } = makeServer([], 0)
  chmodSync(etc, 0o755)
  chmodSync(file, 0o644)
  const { status, err } = pillarbox({ cwd: '/', uid: STRANGER }, '--config', file, 'user', 'list')
  const remedy = `If the server runs as nobody, as root run "chown -R nobody: ${data}", otherwise run it as root.`
  assert.deepEqual(
    [status, err],
    [1, `pillarbox: The user nobody cannot use ${data}.\n${remedy}\n`],
  )
})

test('a program that the owner of the files cannot reach says which folder is in the way', {
  skip: skipOther,
}, () => {
  const { data, home, file } = makeServer()
  const hidden = path.join(makeFolder(), 'hidden')
  mkdirSync(hidden, { mode: 0o700 })
  chmodSync(path.dirname(hidden), 0o755)
  const root = path.join(path.dirname(SOURCE), '..')
  for (const name of ['src', 'migrations', 'package.json']) {
    cpSync(path.join(root, name), path.join(hidden, name), { recursive: true })
  }
  symlinkSync(realpathSync(path.join(root, 'node_modules')), path.join(hidden, 'node_modules'))
  const source = path.join(hidden, 'src/main.ts')
  const expected = `pillarbox: The user nobody, who owns the files of the server and as whom commands of root run, cannot enter ${hidden}, where the program is.\nMove the program to a folder that every user can enter.\n`
  for (const argv of [
    ['user', 'list'],
    ['backup', path.join(data, 'b')],
    ['serve'],
    ['config', 'check'],
  ]) {
    const { status, err } = pillarbox({ cwd: home, source }, '--config', file, ...argv)
    assert.deepEqual([status, err], [1, expected], argv.join(' '))
  }
  assert.deepEqual(readdirSync(data), [])
})
