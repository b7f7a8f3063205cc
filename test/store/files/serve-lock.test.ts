import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { rm, symlink, unlink } from 'node:fs/promises'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { isServed } from '../../../src/store/files/is-served.ts'
import { takeServeLock } from '../../../src/store/files/serve-lock.ts'
import { openStore } from '../../../src/store/store.ts'
import { childProgram } from '../../child-program.ts'
import { type DatabaseFolder, makeDatabaseFolder } from '../test-store.ts'

const options = { log: silentLog(), waitMs: 100 }
const taken = { code: 'CONFLICT' }

/** A server in a process of its own that has the lock and the database. */
async function serveElsewhere(t: TestContext, { path: file, migrationsDir }: DatabaseFolder) {
  const script = childProgram('test/store/files/serving-child.ts')
  const argv = [script, file, migrationsDir]
  const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
  t.after(() => kill(child))
  const lines = createInterface({ input: child.stdout as NonNullable<typeof child.stdout> })
  const next = async () => String((await once(lines, 'line'))[0])
  assert.equal(await next(), 'serving')
  return { child, next }
}

async function kill(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
}

test('a second server on one database is refused until the first is gone', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const first = await takeServeLock(file, options)
  await assert.rejects(takeServeLock(file, options), taken)
  first.release()
  const second = await takeServeLock(file, options)
  second.release()
})

test('a second server is refused under another name of the database, too', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  const first = await takeServeLock(file, options)
  await symlink(`${file}`, `${file}.link`)
  await (await openStore({ path: file, log: silentLog() })).close()
  await assert.rejects(takeServeLock(`${file}.link`, options), taken)
  // Before the folder is removed: the lock makes its file again when that is gone.
  first.release()
})

test('a lock never outlives its server, with its file or without', async (t) => {
  const location = await makeDatabaseFolder(t)
  for (const isRemoved of [false, true]) {
    const { child } = await serveElsewhere(t, location)
    await kill(child)
    if (isRemoved) await unlink(`${location.path}.serving`)
    const lock = await takeServeLock(location.path, options)
    lock.release()
  }
})

test('a second server is refused after the file of the lock was removed', async (t) => {
  const location = await makeDatabaseFolder(t)
  const { child } = await serveElsewhere(t, location)
  // Before the first has made a new one.
  child.kill('SIGSTOP')
  await unlink(`${location.path}.serving`)
  await assert.rejects(takeServeLock(location.path, options), taken)
  assert.equal(
    existsSync(`${location.path}.serving`),
    false,
    'nothing that the next takes for a lock',
  )
  await assert.rejects(takeServeLock(location.path, options), taken)
  child.kill('SIGCONT')
  await kill(child)
  const lock = await takeServeLock(location.path, options)
  lock.release()
})

test('a server whose lock was removed creates it again', async (t) => {
  const location = await makeDatabaseFolder(t)
  const { child, next } = await serveElsewhere(t, location)
  await unlink(`${location.path}.serving`)
  assert.equal(await next(), 'the lock of the server was removed and has been created again')
  await assert.rejects(takeServeLock(location.path, { ...options, waitMs: 0 }), taken)
  // Before the folder is removed, in which it would make the file again.
  await kill(child)
})

test('a new lock waits for a command that ends soon', async (t) => {
  const { path: file, migrationsDir } = await makeDatabaseFolder(t)
  await (await openStore({ path: file, migrationsDir, log: silentLog() })).close()
  const command = await openStore({ path: file, migrationsDir, log: silentLog(), watch: false })
  const waiting = takeServeLock(file, { ...options, waitMs: 60_000 })
  await new Promise(setImmediate)
  await command.close()
  const lock = await waiting
  lock.release()
  await rm(`${file}.serving`)
})

test('isServed does not keep a server from starting', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  assert.equal(isServed(file), false)
  const lock = await takeServeLock(file, options)
  assert.equal(isServed(file), true)
  assert.equal(isServed(file), true)
  await assert.rejects(takeServeLock(file, options), taken, 'the look let go of nothing')
  lock.release()
  assert.equal(isServed(file), false)
  const next = await takeServeLock(file, options)
  next.release()
})

test('isServed works under another name of the database, too', async (t) => {
  const { path: file } = await makeDatabaseFolder(t)
  await (await openStore({ path: file, log: silentLog() })).close()
  await symlink(file, `${file}.link`)
  const lock = await takeServeLock(`${file}.link`, options)
  assert.equal(isServed(`${file}.link`), true)
  lock.release()
  assert.equal(isServed(`${file}.link`), false)
})
