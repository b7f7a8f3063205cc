import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { asFileOwner, type Users } from '../../src/cli/owner.ts'
import { makeFolder } from '../config/place.ts'
import { runAt } from '../fakes/terminal.ts'

const isRoot = process.geteuid?.() === 0
const skip = isRoot ? false : 'only root can give files to others'
/** `nobody` of most systems; no account of that number is needed. */
const STRANGER = 65_534

/** What a process of that user did to its identity. */
function fakeUsers(uid: number) {
  const calls: string[] = []
  const users: Users = {
    geteuid: () => uid,
    getegid: () => uid,
    seteuid: (id) => void calls.push(`user ${id}`),
    setegid: (id) => void calls.push(`group ${id}`),
  }
  return { users, calls }
}

test('another user than root works as itself', async () => {
  const { users, calls } = fakeUsers(1_000)
  const dataDir = makeFolder()
  assert.equal(await asFileOwner({ file: null, dataDir }, async () => 7, { users }), 7)
  assert.deepEqual(calls, [])
})

test('root works as the owner of data_dir, and is root again afterwards', { skip }, async () => {
  const { users, calls } = fakeUsers(0)
  const dataDir = makeFolder()
  chownSync(dataDir, STRANGER, STRANGER)
  const act = async () => {
    calls.push('act')
    throw new Error('it fails')
  }
  await assert.rejects(asFileOwner({ file: null, dataDir }, act, { users }), /it fails/)
  const before = [`group ${STRANGER}`, `user ${STRANGER}`]
  assert.deepEqual(calls, [...before, 'act', 'user 0', 'group 0'])
})

test('root leaves its own files alone', { skip }, async () => {
  const { users, calls } = fakeUsers(0)
  await asFileOwner({ file: null, dataDir: makeFolder() }, async () => undefined, { users })
  assert.deepEqual(calls, [])
})

test('a command of root before the first start leaves files of the configured user', {
  skip,
}, async () => {
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const dataDir = path.join(cwd, 'data')
  const file = path.join(cwd, 'pillarbox.toml')
  writeFileSync(file, `data_dir = ${JSON.stringify(dataDir)}\n`)
  chownSync(file, STRANGER, STRANGER)
  assert.equal((await runAt({ cwd }, 'config', 'check')).status, 0)
  assert.equal(existsSync(dataDir), false)
  const made = await runAt({ cwd }, 'user', 'create', '--email', 'ann@example.test')
  assert.equal(made.status, 0, made.err)
  const files = readdirSync(dataDir)
  assert.ok(files.includes('secret') && files.includes('pillarbox.db'))
  for (const name of ['.', ...files]) {
    assert.equal(statSync(path.join(dataDir, name)).uid, STRANGER, name)
  }
  assert.equal(process.geteuid?.(), 0)
})

test('init gives its file to the owner of the folder', { skip }, async () => {
  const cwd = makeFolder()
  const folder = path.join(cwd, 'etc')
  mkdirSync(folder)
  chownSync(folder, STRANGER, STRANGER)
  const { status } = await runAt({ cwd }, '--config', 'etc/pillarbox.toml', 'init')
  assert.equal(status, 0)
  const { uid, mode } = statSync(path.join(folder, 'pillarbox.toml'))
  assert.deepEqual([uid, mode & 0o777], [STRANGER, 0o600])
})
