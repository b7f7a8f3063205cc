/** A server that was killed, what happens to its files before the next process, and what that process finds. */
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { rm, utimes } from 'node:fs/promises'
import { type TestContext, test } from 'node:test'
import { silentLog } from '../../../src/base/log.ts'
import { type Connection, openConnection } from '../../../src/store/connection.ts'
import {
  findLostLog,
  forgetLostLog,
  lookForLog,
  markLog,
} from '../../../src/store/files/log-mark.ts'
import { takeServeLock } from '../../../src/store/files/serve-lock.ts'
import { makeDatabaseFolder } from '../test-store.ts'

const SERVED_AT = Date.UTC(2026, 10, 28)
/** Far from the time of any change that a test makes. */
const OPENED_AT = 1_700_000_000_000

type World = Awaited<ReturnType<typeof serve>>

async function serve(t: TestContext) {
  const { path: file } = await makeDatabaseFolder(t)
  const served = openConnection({ path: file, busyTimeoutMs: 0 })
  served.script('PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; create table t (a)')
  served.script('PRAGMA wal_checkpoint(TRUNCATE)')
  await utimes(file, OPENED_AT / 1000, OPENED_AT / 1000)
  const mark = await markLog(file, SERVED_AT)
  /** Another program, as the first process after the kill. */
  const open = (isReadOnly = false): Connection => {
    const other = openConnection({ path: file, isReadOnly, busyTimeoutMs: 0 })
    other.value('select count(*) from t')()
    return other
  }
  return {
    ...{ file, mark, open },
    commit: () => served.script('insert into t values (1)'),
    checkpoint: () => {
      served.script('PRAGMA wal_checkpoint(TRUNCATE)')
      mark.renew()
    },
    /** A connection that only reads leaves the log behind, as a kill does. */
    kill() {
      const last = open(true)
      served.close()
      last.close()
    },
    async remove(...ends: string[]) {
      for (const end of ends) await rm(file + end)
    },
  }
}

type Case = { name: string; act(world: World, t: TestContext): unknown; isLost: boolean }

const CASES: Case[] = [
  {
    name: 'the log is in place',
    act({ commit, kill }) {
      commit()
      kill()
    },
    isLost: false,
  },
  {
    name: 'the log was removed',
    async act({ commit, kill, remove }) {
      commit()
      kill()
      await remove('-wal')
    },
    isLost: true,
  },
  {
    name: 'the log and its index were removed',
    async act({ commit, kill, remove }) {
      commit()
      kill()
      await remove('-wal', '-shm')
    },
    isLost: true,
  },
  {
    name: 'the log was removed, and another program has opened and closed the database since',
    async act({ commit, kill, remove, open }) {
      commit()
      kill()
      await remove('-wal', '-shm')
      open().close()
    },
    isLost: true,
  },
  {
    name: 'the log was removed, and another program has made an empty one',
    async act({ commit, kill, remove, open }, t) {
      commit()
      kill()
      await remove('-wal', '-shm')
      const other = open()
      t.after(() => other.close())
    },
    isLost: true,
  },
  {
    name: 'another program was the last to close the database, which copies the log',
    act({ commit, kill, open }) {
      commit()
      kill()
      open().close()
    },
    isLost: false,
  },
  {
    name: 'the server ended cleanly',
    act({ commit, kill, open, mark }) {
      commit()
      mark.remove()
      kill()
      open().close()
    },
    isLost: false,
  },
  { name: 'the kill came before the first commit', act: ({ kill }) => kill(), isLost: false },
  {
    name: 'the kill came after a checkpoint that emptied the log',
    act({ commit, checkpoint, kill }) {
      commit()
      checkpoint()
      kill()
    },
    isLost: false,
  },
  {
    name: 'the log was removed that was written after a checkpoint',
    async act({ commit, checkpoint, kill, remove }) {
      commit()
      checkpoint()
      commit()
      kill()
      await remove('-wal')
    },
    isLost: true,
  },
  {
    name: 'another copy of the database is in place, which its generation tells',
    async act({ file, commit, kill, remove }) {
      commit()
      kill()
      await remove('-wal')
      await utimes(file, OPENED_AT / 1000 - 60, OPENED_AT / 1000 - 60)
    },
    isLost: false,
  },
]

for (const { name, act, isLost } of CASES) {
  test(`after a kill ${isLost ? 'a lost log' : 'nothing'} is found: ${name}`, async (t) => {
    const world = await serve(t)
    await act(world, t)
    lookForLog(world.file)
    assert.equal(findLostLog(world.file) !== undefined, isLost)
    assert.equal(existsSync(`${world.file}.log-mark`), false)
  })
}

test('a lost log is known with its times until it is forgotten, whoever opens the database', async (t) => {
  const { file, commit, kill, remove, open } = await serve(t)
  commit()
  kill()
  await remove('-wal')
  lookForLog(file)
  const other = open()
  other.script('insert into t values (2)')
  other.close()
  lookForLog(file)
  assert.deepEqual(findLostLog(file), { since: OPENED_AT, servedAt: SERVED_AT })
  forgetLostLog(file)
  lookForLog(file)
  assert.equal(findLostLog(file), undefined)
})

test('nothing is judged while a server runs', async (t) => {
  const { file, commit, kill, remove } = await serve(t)
  const lock = await takeServeLock(file, { log: silentLog(), waitMs: 0 }).catch(() => undefined)
  assert.equal(lock, undefined, 'the database is open')
  commit()
  kill()
  await remove('-wal')
  const served = await takeServeLock(file, { log: silentLog() })
  lookForLog(file)
  assert.equal(findLostLog(file), undefined)
  served.release()
  lookForLog(file)
  assert.notEqual(findLostLog(file), undefined)
})
