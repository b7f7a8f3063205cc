/** Commands on a database that an older version has left. */
import assert from 'node:assert/strict'
import { cpSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { silentLog } from '../../src/base/log.ts'
import { openConnection } from '../../src/store/connection.ts'
import { takeServeLock } from '../../src/store/files/serve-lock.ts'
import { openStore } from '../../src/store/store.ts'
import { makeFolder } from '../config/config-folder.ts'
import { commandsAt } from './commands-at.ts'

const env = {
  PILLARBOX_BASE_URL: 'https://mail.example.test',
  PILLARBOX_DELIVERY__MODE: 'direct',
  PILLARBOX_DELIVERY__HOSTNAME: 'mail.example.test',
  PILLARBOX_ACCOUNTS__MAIL_PROJECT: '01980000-0000-7000-8000-000000000001',
}

function schemaOf(file: string): number {
  const connection = openConnection({ path: file, isReadOnly: true, busyTimeoutMs: 1_000 })
  try {
    return Number(connection.value('PRAGMA user_version')())
  } finally {
    connection.close()
  }
}

/** The program's own migrations without the last. Returns how many are left. */
function copyOlderMigrations(folder: string): number {
  cpSync(path.join(import.meta.dirname, '../../migrations/sqlite'), folder, { recursive: true })
  const names = readdirSync(folder).sort()
  rmSync(path.join(folder, names.pop() ?? ''))
  return names.length
}

/** Where the commands of `cwd` look for it. */
async function makeOlderDatabase(cwd: string): Promise<{ file: string; schema: number }> {
  const file = path.join(cwd, 'data', 'pillarbox.db')
  mkdirSync(path.dirname(file), { mode: 0o700 })
  const migrationsDir = path.join(cwd, 'migrations')
  const schema = copyOlderMigrations(migrationsDir)
  await (await openStore({ path: file, log: silentLog(), migrationsDir })).close()
  return { file, schema }
}

test('a check of the configuration leaves the migration of the database to the server, which says so', async () => {
  const cwd = makeFolder()
  const { file, schema } = await makeOlderDatabase(cwd)
  const { json } = commandsAt({ cwd, env })
  await json('config', 'check')
  assert.equal(schemaOf(file), schema)
  // A command migrates it, and then there are warnings.
  await json('project', 'list')
  assert.ok(schemaOf(file) > schema)
  const { warnings } = await json('config', 'check')
  assert.ok(
    warnings.some((each: string) => /accounts\.mail_project/.test(each)),
    String(warnings),
  )
})

test('a check of the configuration names a database that cannot be opened', async () => {
  const cwd = makeFolder()
  mkdirSync(path.join(cwd, 'data'), { mode: 0o700 })
  writeFileSync(
    path.join(cwd, 'data', 'pillarbox.db'),
    'this is no database, only a text\n'.repeat(99),
  )
  const { failure } = commandsAt({ cwd, env })
  const { code, message } = await failure('config', 'check')
  assert.equal(code, 'DATABASE_ERROR')
  assert.match(message, /pillarbox\.db cannot be opened/)
})

test('F8: a command does not migrate the database of a server that runs', async (t) => {
  const cwd = makeFolder()
  const { file, schema } = await makeOlderDatabase(cwd)
  const lock = await takeServeLock(file, { log: silentLog() })
  t.after(() => lock.release())
  const { failure, json } = commandsAt({ cwd, env: {} })
  const { status, code, message } = await failure('project', 'list')
  assert.deepEqual([status, code], [1, 'CONFLICT'])
  assert.match(message, /older schema.*a server runs on it/)
  assert.equal(schemaOf(file), schema)
  lock.release()
  assert.deepEqual(await json('project', 'list'), [])
  assert.ok(schemaOf(file) > schema)
})
