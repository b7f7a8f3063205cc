import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, unlinkSync } from 'node:fs'
import { copyFile, link, mkdir, readFile, rename, rm, symlink, unlink } from 'node:fs/promises'
import path from 'node:path'
import { describe, it, type TestContext } from 'node:test'
import { createHealth } from '../../../src/base/health.ts'
import { silentLog } from '../../../src/base/log.ts'
import { openConnection } from '../../../src/store/connection.ts'
import { openStore, type Store } from '../../../src/store/store.ts'
import { childProgram } from '../../child-program.ts'
import { makeDatabaseFolder, notes, openTestStore } from '../test-store.ts'

async function openWatched(t: TestContext) {
  const health = createHealth()
  const fatal: unknown[] = []
  const warnings = createWarnings()
  const log = Object.assign(Object.create(silentLog()), {
    fatal: (fields: unknown) => fatal.push(fields),
    warn: warnings.add,
    error: () => undefined,
  })
  const store = await openTestStore(t, { log, health })
  await insert(store, 'first')
  return { store, health, fatal, warnings, file: store.location.path }
}

/** `next` resolves with the pages of the first warning with this text. */
function createWarnings() {
  const waiting = new Map<string, PromiseWithResolvers<number>>()
  const of = (text: string) => {
    const known = waiting.get(text) ?? Promise.withResolvers<number>()
    waiting.set(text, known)
    return known
  }
  return {
    add: ({ pages = 0 }: { pages?: number }, text: string) => of(text).resolve(pages),
    next: (text: string) => of(text).promise,
  }
}

let count = 0

function insert(store: Store, id = `note ${++count}`): Promise<unknown> {
  return store.write((tx) => tx.insert(notes).values({ id, seq: 0 }))
}

/** As a scan thread or a command does: its log is new and empty, and the index names pages of the lost one. */
function openAndFail(file: string): void {
  const connection = openConnection({ path: file, isReadOnly: true, busyTimeoutMs: 0 })
  assert.throws(() => connection.value('SELECT count(*) FROM notes')(), {
    code: 'SQLITE_IOERR_SHORT_READ',
  })
  connection.close()
}

/** Until the store has seen it by itself. */
async function untilLost(store: Store): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const stop = store.onFilesLost(resolve)
  await promise
  stop()
}

const takings: [string, (file: string) => Promise<unknown>][] = [
  ['the log is unlinked', (file) => unlink(`${file}-wal`)],
  ['the index is unlinked', (file) => unlink(`${file}-shm`)],
  ['the database is unlinked', (file) => unlink(file)],
  ['the database is moved', (file) => rename(file, `${file}.moved`)],
  [
    'the database is replaced by a copy',
    async (file) => {
      await copyFile(file, `${file}.copy`)
      await rename(`${file}.copy`, file)
    },
  ],
  [
    'all its files are gone',
    (file) => Promise.all(['', '-wal', '-shm'].map((end) => unlink(`${file}${end}`))),
  ],
]

/** Each test has its own files, and most wait for the next look at them. */
describe('the files of the database', { concurrency: true }, () => {
  for (const [what, take] of takings) {
    it(`when ${what}, nothing is acknowledged any more and health says why`, async (t) => {
      const { store, health, fatal, file } = await openWatched(t)
      assert.equal(store.isWritable(), true)
      await take(file)
      await untilLost(store)
      assert.equal(store.isWritable(), false)
      await assert.rejects(insert(store), { code: 'DATABASE_ERROR', status: 503 })
      const [reason] = health.reasons()
      assert.equal(reason?.cause, 'database-files')
      assert.match(reason?.reason ?? '', /test\.db\S* was removed or replaced/)
      assert.equal(fatal.length, 1)
    })
  }

  for (const isMadeAgain of [false, true]) {
    const also = isMadeAgain ? ', also when a later connection has made another' : ''
    it(`a lost log is copied into the database${also}`, async (t) => {
      const { store, warnings, file } = await openWatched(t)
      await insert(store, 'second')
      unlinkSync(`${file}-wal`)
      // At once: the store has not seen the loss.
      if (isMadeAgain) openAndFail(file)
      const pages = await warnings.next('the lost log was copied into the database')
      assert.ok(pages > 0)
      assert.equal(existsSync(`${file}-wal`), isMadeAgain)
      const { folder, migrationsDir } = store.location
      const copy = path.join(folder, 'copy.db')
      await copyFile(file, copy)
      const alone = await openStore({ path: copy, migrationsDir, log: silentLog(), watch: false })
      t.after(() => alone.close())
      const found = await alone.read.select({ id: notes.id }).from(notes)
      assert.deepEqual(found.map(({ id }) => id).sort(), ['first', 'second'])
    })
  }

  it('a log that another program has written to is not mixed with the lost one', async (t) => {
    const { store, file } = await openWatched(t)
    const before = await readFile(file)
    await copyFile(`${file}-wal`, `${file}.copy`)
    await rename(`${file}.copy`, `${file}-wal`)
    await untilLost(store)
    await untilLost(store)
    assert.deepEqual(await readFile(file), before)
  })

  it('no write resolves after the files are gone', async (t) => {
    const { store, file } = await openWatched(t)
    const results: Promise<boolean>[] = []
    const note = (work: Promise<unknown>) =>
      results.push(
        work.then(
          () => true,
          () => false,
        ),
      )
    for (let round = 0; round < 20; round += 1) {
      note(insert(store))
      await new Promise(setImmediate)
    }
    await Promise.all(results)
    await unlink(`${file}-wal`)
    await untilLost(store)
    for (let round = 0; round < 20; round += 1) note(insert(store))
    assert.deepEqual(await Promise.all(results), [
      ...Array(20).fill(true),
      ...Array(20).fill(false),
    ])
  })

  it('are valid again when a move is undone', async (t) => {
    const { store, health, file } = await openWatched(t)
    await rename(file, `${file}.moved`)
    await untilLost(store)
    await rename(`${file}.moved`, file)
    for (let isBack = false; !isBack; ) {
      isBack = await insert(store).then(
        () => true,
        () => new Promise((resolve) => setTimeout(resolve, 20, false)),
      )
    }
    assert.deepEqual(health.reasons(), [])
    assert.equal(await store.read.$count(notes), 2)
  })

  it('stay the same while commands open and close them, during checkpoints, and at rest', async (t) => {
    const { store, health, fatal, file } = await openWatched(t)
    const script = childProgram('test/store/opening-child.ts')
    const { migrationsDir } = store.location
    for (let round = 0; round < 3; round += 1) {
      const argv = [script, file, migrationsDir]
      const child = spawn(process.execPath, argv, { stdio: ['pipe', 'pipe', 'inherit'] })
      child.stdin?.end()
      const [status] = await once(child, 'exit')
      assert.equal(status, 0)
      await insert(store)
      const other = await openStore({ path: file, migrationsDir, log: silentLog(), watch: false })
      await insert(other)
      await other.close()
      await store.write(async (tx) => {
        for (let row = 0; row < 500; row += 1) {
          const id = `large ${round} ${row}`
          await tx.insert(notes).values({ id, seq: 1, body: 'x'.repeat(20_000) })
        }
      })
    }
    assert.equal(store.isWritable(), true)
    assert.deepEqual([health.reasons(), fatal], [[], []])
  })

  it('are found behind a symbolic link', async (t) => {
    const location = await makeDatabaseFolder(t)
    const { path: file, migrationsDir, folder } = location
    const real = path.join(folder, 'elsewhere', 'real.db')
    await mkdir(path.dirname(real))
    await symlink(real, file)
    const first = await openStore({ path: real, migrationsDir, log: silentLog(), watch: false })
    await first.close()
    const health = createHealth()
    const store = await openStore({ path: file, migrationsDir, log: silentLog(), health })
    t.after(() => store.close())
    await insert(store)
    assert.ok(store.walBytes() > 0)
    await unlink(`${real}-wal`)
    await untilLost(store)
    assert.match(health.reasons()[0]?.reason ?? '', /real\.db-wal was removed/)
  })

  it('are refused while the database has a second name', async (t) => {
    const { path: file, migrationsDir } = await makeDatabaseFolder(t)
    const options = { migrationsDir, log: silentLog(), watch: false }
    await (await openStore({ path: file, ...options })).close()
    await link(file, `${file}.link`)
    for (const name of [file, `${file}.link`]) {
      await assert.rejects(openStore({ path: name, ...options }), {
        code: 'DATABASE_ERROR',
        message: /has 2 names \(hard links\)/,
      })
    }
    await rm(`${file}.link`)
    await (await openStore({ path: file, ...options })).close()
  })
})
