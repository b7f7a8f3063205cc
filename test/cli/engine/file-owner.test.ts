import assert from 'node:assert/strict'
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { asFileOwner, type Users } from '../../../src/cli/engine/file-owner.ts'
import { userArgument } from '../../../src/config/file-access.ts'
import { makeFolder } from '../../config/config-folder.ts'
import { runAt } from '../../fakes/terminal.ts'
import { skipOther } from './other-owner.ts'

const isRoot = process.geteuid?.() === 0
const skip = isRoot ? false : 'only root can give files to others'
/** The uid of `nobody` on most systems; the account need not exist. */
const STRANGER = 65_534
const NO_ACCOUNT = 65_432

/** The calls with which a process of that user changed its identity. */
function fakeUsers(uid: number) {
  const calls: string[] = []
  const users: Users = {
    geteuid: () => uid,
    getegid: () => uid,
    seteuid: (id) => void calls.push(`user ${id}`),
    setegid: (id) => void calls.push(`group ${id}`),
    setuid: (id) => void calls.push(`user ${id} for good`),
    setgid: (id) => void calls.push(`group ${id} for good`),
    getgroups: () => [uid, 7],
    setgroups: (ids) => void calls.push(`groups ${ids}`),
    initgroups: (user, extra) => void calls.push(`groups of ${user}, ${extra}`),
  }
  return { users, calls }
}

test('a user other than root keeps its identity', async () => {
  const { users, calls } = fakeUsers(1_000)
  const dataDir = makeFolder()
  assert.equal(await asFileOwner({ file: null, dataDir }, async () => 7, { users }), 7)
  assert.deepEqual(calls, [])
})

test('root acts as the owner of data_dir and becomes root again afterwards', { skip }, async () => {
  const { users, calls } = fakeUsers(0)
  const dataDir = makeFolder()
  chownSync(dataDir, STRANGER, STRANGER)
  const act = async () => {
    calls.push('act')
    throw new Error('it fails')
  }
  await assert.rejects(asFileOwner({ file: null, dataDir }, act, { users }), /it fails/)
  const before = [`groups of ${STRANGER}, ${STRANGER}`, `group ${STRANGER}`, `user ${STRANGER}`]
  assert.deepEqual(calls, [...before, 'act', 'user 0', 'group 0', 'groups 0,7'])
})

test('a process that runs one command gives up root for good', { skip }, async () => {
  const { users, calls } = fakeUsers(0)
  const dataDir = makeFolder()
  chownSync(dataDir, STRANGER, STRANGER)
  const act = async () => void calls.push('act')
  await asFileOwner({ file: null, dataDir }, act, { isFinal: true, users })
  const groups = `groups of ${STRANGER}, ${STRANGER}`
  const ids = [`group ${STRANGER} for good`, `user ${STRANGER} for good`]
  assert.deepEqual(calls, [groups, ...ids, 'act'])
})

test("root's supplementary groups grant no access while it acts as the owner", {
  skip: skipOther,
}, async (t) => {
  const own = (process.getgroups?.() ?? []).filter((gid) => gid !== 0)
  t.after(() => process.setgroups?.(own))
  process.setgroups?.([0, 7])
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const dataDir = path.join(cwd, 'data')
  mkdirSync(dataDir)
  chownSync(dataDir, NO_ACCOUNT, NO_ACCOUNT)
  const secret = path.join(cwd, 'secret-of-root')
  writeFileSync(secret, 'x'.repeat(64))
  chmodSync(secret, 0o640)
  const before = process.getgroups?.()
  const read = async () => readFileSync(secret)
  await assert.rejects(asFileOwner({ file: null, dataDir }, read), { code: 'EACCES' })
  assert.deepEqual(process.getgroups?.(), before)
})

test('the parent folders of a new data_dir can be entered by its owner', {
  skip: skipOther,
}, async () => {
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const dataDir = path.join(cwd, 'srv/pillarbox/data')
  const file = path.join(cwd, 'pillarbox.toml')
  writeFileSync(file, `data_dir = ${JSON.stringify(dataDir)}\n`)
  chownSync(file, STRANGER, STRANGER)
  const made = await runAt({ cwd }, 'user', 'create', '--email', 'ann@example.test')
  assert.equal(made.status, 0, made.err)
  const { uid, mode } = statSync(dataDir)
  assert.deepEqual([uid, mode & 0o777], [STRANGER, 0o700])
})

test("root creates and gives away nothing below another user's folder", {
  skip: skipOther,
}, async () => {
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const home = path.join(cwd, 'home')
  mkdirSync(path.join(home, 'of-root'), { recursive: true })
  chownSync(home, NO_ACCOUNT, NO_ACCOUNT)
  const file = path.join(cwd, 'pillarbox.toml')
  writeFileSync(file, '')
  chownSync(file, STRANGER, STRANGER)
  const dataDir = path.join(home, 'of-root/data')
  const act = async () => existsSync(dataDir)
  assert.equal(await asFileOwner({ file, dataDir }, act, { makesDataDir: true }), false)
})

test('root makes no folder of the system the data_dir of another user', { skip }, async (t) => {
  const cwd = makeFolder()
  chmodSync(cwd, 0o755)
  const file = path.join(cwd, 'pillarbox.toml')
  writeFileSync(file, '')
  chownSync(file, STRANGER, STRANGER)
  const ofSystem = mkdtempSync('/run/pillarbox-')
  t.after(() => rmSync(ofSystem, { recursive: true }))
  chmodSync(ofSystem, 0o755)
  const empty = path.join(ofSystem, 'empty')
  mkdirSync(empty)
  symlinkSync(ofSystem, path.join(cwd, 'link'))
  const { users, calls } = fakeUsers(0)
  const act = async () => void calls.push('act')
  for (const dataDir of [empty, `${ofSystem}/new/data`, `${cwd}/link/empty`, `${cwd}/link/new`]) {
    await assert.rejects(asFileOwner({ file, dataDir }, act, { makesDataDir: true, users }), {
      code: 'FORBIDDEN',
      suggestion: `If you want it there, create it yourself: install -d -o ${userArgument(STRANGER)} -m 700 ${dataDir}`,
      message: `${dataDir} is in /run, which has files of the system: root creates no folder there for another user, and gives none away.`,
    })
  }
  assert.deepEqual(calls, [])
  assert.deepEqual([readdirSync(ofSystem), statSync(empty).uid], [['empty'], 0])

  chownSync(empty, STRANGER, STRANGER)
  await asFileOwner({ file, dataDir: empty }, act, { makesDataDir: true, users, isFinal: true })
  assert.equal(calls.at(-1), 'act')
})

test('without a file and a data_dir, root acts as the owner of the folder around', {
  skip,
}, async () => {
  const { users, calls } = fakeUsers(0)
  const home = makeFolder()
  chownSync(home, STRANGER, STRANGER)
  const dataDir = path.join(home, 'new/data')
  const act = async () => void calls.push('act')
  await asFileOwner({ file: null, dataDir }, act, { isFinal: true, makesDataDir: true, users })
  const ids = [`group ${STRANGER} for good`, `user ${STRANGER} for good`]
  assert.deepEqual(calls, [`groups of ${STRANGER}, ${STRANGER}`, ...ids, 'act'])
  assert.equal(existsSync(path.join(home, 'new')), false)
})

test('files that belong to root keep their owner', { skip }, async () => {
  const { users, calls } = fakeUsers(0)
  await asFileOwner({ file: null, dataDir: makeFolder() }, async () => undefined, { users })
  assert.deepEqual(calls, [])
})

test('a command of root before the first start leaves files that the configured user owns', {
  skip: skipOther,
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
