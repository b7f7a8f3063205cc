import assert from 'node:assert/strict'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { DAY_MS } from '../../../../../src/base/clock.ts'
import { createLog } from '../../../../../src/base/log.ts'
import { prepareSandbox } from '../../../../../src/features/tenancy/accounts/projects/sandbox-project.ts'
import { isSetupOpen } from '../../../../../src/features/tenancy/accounts/setup/is-open.ts'
import {
  isSetupToken,
  makeSetupLink,
  renewSetupLink,
} from '../../../../../src/features/tenancy/accounts/setup/link.ts'
import { setPassword } from '../../../../../src/features/tenancy/accounts/users/edit-users.ts'
import { createUser } from '../../../../../src/features/tenancy/accounts/users/users.ts'
import { setupLinks, users } from '../../../../../src/store/schema/accounts.ts'
import { openTestCore, type TestCore, type TestCoreOptions } from '../../../../core.ts'
import { addUser } from '../../../../session.ts'

const DIRECT = { PILLARBOX_DELIVERY__MODE: 'direct' }

/** A server without users, in a folder without the file of a link, and all lines of its log. */
async function open(
  t: Parameters<typeof openTestCore>[0],
  options: TestCoreOptions = { settings: DIRECT },
) {
  const lines: string[] = []
  const log = createLog('debug', { write: (line: string) => lines.push(line) })
  const core = { ...(await openTestCore(t, options)), log }
  const file = path.join(core.config.dataDir, 'setup-link')
  return { core, file, lines }
}

const tokenOf = (link = '') => link.slice(link.indexOf('#') + 1)

const isValid = (core: TestCore, link: string | undefined) =>
  isSetupToken(core.store.read, { token: tokenOf(link), at: core.now() })

const sandboxToDirect = (core: TestCore): TestCore => ({
  ...core,
  config: { ...core.config, delivery: { ...core.config.delivery, mode: 'direct' } },
})

test('S39: the link has the token in its fragment, the file has mode 600, and the database the digest', async (t) => {
  const { core, file, lines } = await open(t)
  const made = await makeSetupLink(core)
  assert.match(made?.link ?? '', /^http:\/\/localhost:8080\/app\/setup#[0-9a-f]{64}$/)
  assert.equal(made?.file, file)
  assert.equal(made?.expiresAt, new Date(core.now() + DAY_MS).toISOString())
  assert.equal(readFileSync(file, 'utf8'), `${made?.link}\n`)
  if (process.platform !== 'win32') assert.equal(lstatSync(file).mode & 0o777, 0o600)
  const rows = JSON.stringify(await core.store.read.select().from(setupLinks))
  assert.doesNotMatch(rows, new RegExp(tokenOf(made?.link)))
  assert.equal(await isValid(core, made?.link), true)
  assert.equal(lines.join('').includes(tokenOf(made?.link)), false)
})

test('S39: a link is valid for 24 hours, and until the next one', async (t) => {
  const { core, file } = await open(t)
  const first = await makeSetupLink(core)
  core.clock.now += DAY_MS - 1
  assert.equal(await isValid(core, first?.link), true)
  core.clock.now += 1
  assert.equal(await isValid(core, first?.link), false)
  const second = await renewSetupLink(core)
  const third = await renewSetupLink(core)
  assert.equal(await isValid(core, second.link), false)
  assert.equal(await isValid(core, third.link), true)
  assert.equal(readFileSync(file, 'utf8'), `${third.link}\n`)
  for (const text of ['', third.link, tokenOf(third.link).toUpperCase()]) {
    assert.equal(await isSetupToken(core.store.read, { token: text, at: core.now() }), false, text)
  }
})

test('S39: no link is made once a user may log in, and what is left of one goes', async (t) => {
  const { core, file } = await open(t)
  const made = await makeSetupLink(core)
  await addUser(core)
  await assert.rejects(renewSetupLink(core), { code: 'CONFLICT' })
  assert.equal(await makeSetupLink(core), null)
  assert.equal(existsSync(file), false)
  assert.equal(await core.store.read.$count(setupLinks), 0)
  assert.equal(await isValid(core, made?.link), false)
})

test("the sandbox's user counts in the sandbox only", async (t) => {
  const { core: sandbox } = await open(t, {})
  assert.equal(await isSetupOpen(sandbox, sandbox.store.read), true)
  const welcome = await prepareSandbox(sandbox)
  assert.equal(welcome?.kind, 'created')
  const direct = sandboxToDirect(sandbox)
  const both = async () => [
    await isSetupOpen(sandbox, sandbox.store.read),
    await isSetupOpen(direct, direct.store.read),
  ]
  assert.deepEqual(await both(), [false, true])
  assert.notEqual(await makeSetupLink(direct), null)
  // A new password takes the mark of the sandbox away.
  await setPassword(direct, { address: 'admin@example.test', password: 'correct horse' })
  assert.deepEqual(await both(), [false, false])
  assert.equal(await direct.store.read.$count(setupLinks), 0)
})

test('S39: a user that a command makes ends the link', async (t) => {
  const { core, file } = await open(t)
  const made = await makeSetupLink(core)
  await createUser(core, { address: 'ada@example.test', password: 'correct horse' })
  assert.equal(existsSync(file), false)
  assert.equal(await isValid(core, made?.link), false)
})

test('S39: a command ends the link in the transaction that makes the user, and cannot fail after it', async (t) => {
  const { core } = await open(t)
  const acts = [
    (deps: TestCore) =>
      createUser(deps, { address: 'ada@example.test', password: 'correct horse' }),
    (deps: TestCore) => setPassword(deps, { address: 'ada@example.test', password: 'new horse' }),
  ]
  for (const act of acts) {
    await core.store.write((tx) => tx.update(users).set({ isSandbox: true }))
    assert.notEqual(await makeSetupLink(core), null)
    let writes = 0
    const write: TestCore['store']['write'] = (work, options) => {
      writes += 1
      return writes === 1 ? core.store.write(work, options) : Promise.reject(new Error('no disk'))
    }
    await act({ ...core, store: { ...core.store, write } })
    assert.equal(await core.store.read.$count(setupLinks), 0)
  }
})

test('S39: a symbolic link in the place of the file is replaced, and so deleted', async (t) => {
  const { core, file } = await open(t)
  const target = path.join(core.config.dataDir, 'target-of-a-link')
  writeFileSync(target, 'untouched')
  symlinkSync(target, file)
  const made = await makeSetupLink(core)
  assert.equal(lstatSync(file).isSymbolicLink(), false)
  assert.equal(readFileSync(file, 'utf8'), `${made?.link}\n`)
  rmSync(file)
  symlinkSync(target, file)
  await createUser(core, { address: 'ada@example.test', password: 'correct horse' })
  assert.equal(lstatSync(file, { throwIfNoEntry: false }), undefined)
  assert.equal(readFileSync(target, 'utf8'), 'untouched')
})

test('a file that cannot be written stops nothing, and the log says so without the link', async (t) => {
  const { core, file, lines } = await open(t)
  mkdirSync(path.join(file, 'full'), { recursive: true })
  const made = await makeSetupLink(core)
  assert.equal(made?.file, null)
  assert.equal(await isValid(core, made?.link), true)
  await createUser(core, { address: 'ada@example.test', password: 'correct horse' })
  assert.match(lines[0] ?? '', /the set-up link was not written to its file/)
  assert.match(lines[1] ?? '', /the file of the set-up link was not deleted/)
  assert.equal(lines.join('').includes(tokenOf(made?.link)), false)
})
