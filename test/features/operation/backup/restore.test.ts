/** Restores: what comes back, what is refused, and what a failure or a kill leaves. */
import assert from 'node:assert/strict'
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { before, test } from 'node:test'
import { silentLog } from '../../../../src/base/log.ts'
import type { Config } from '../../../../src/config/config.ts'
import { loadConfig } from '../../../../src/config/load.ts'
import { DUTIES } from '../../../../src/core/areas.ts'
import { openCore } from '../../../../src/core/open-core.ts'
import { digestSecret } from '../../../../src/features/ground/directory.ts'
import { verifyBackup } from '../../../../src/features/operation/backup/inspect/verify-backup.ts'
import { relocateConfig } from '../../../../src/features/operation/backup/restore/data-folder.ts'
import { restoreBackup } from '../../../../src/features/operation/backup/restore/restore-backup.ts'
import {
  readImageFile,
  writeImageFile,
} from '../../../../src/features/tenancy/uploads/image-files.ts'
import { openConnection } from '../../../../src/store/connection.ts'
import { sql } from '../../../../src/store/drizzle.ts'
import { takeServeLock } from '../../../../src/store/files/serve-lock.ts'
import {
  addProject,
  openTestCore,
  SECRET,
  START,
  type TestCore,
  trustDomain,
} from '../../../core.ts'
import { cleanUpAfterFile } from '../../../file-cleanup.ts'
import { backUp, changeBackup, readPieces, temporaryFolder } from './work.ts'

const log = silentLog()

function configOf(dataDir: string, settings: Record<string, string> = {}): Config {
  const env = { PILLARBOX_DATA_DIR: dataDir, ...settings }
  return loadConfig({ cwd: dataDir, systemFile: path.join(dataDir, 'none'), env })
}

async function restore(file: string, config: Config) {
  return restoreBackup(
    { config, now: () => START, log, openCore, tables: DUTIES.tables },
    await readPieces(file),
  )
}

const cleanup = cleanUpAfterFile()
type MadeBackup = Awaited<ReturnType<typeof makeBackup>>
let backup: MadeBackup
let backupWithoutSecret: MadeBackup

/** All tests read these. */
before(async () => {
  backup = await makeBackup(cleanup)
  backupWithoutSecret = await makeBackup(cleanup, true)
})

/** A core with a project, a domain with sealed keys, an image, and an event; its backup. */
async function makeBackup(t: Parameters<typeof temporaryFolder>[0], withoutSecret = false) {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'example.test')
  const image = await writeImageFile(core.config, [Buffer.from('an image')])
  await insertEvent(core, project.id)
  const file = path.join(await temporaryFolder(t), 'backup.tar.zst')
  const made = await backUp(core, file, { withoutSecret })
  return { core, project, image, file, made }
}

async function insertEvent({ store }: TestCore, projectId: string): Promise<void> {
  await store.write(async (tx) => {
    await tx.run(sql`insert into events (id, project_id, name, data, created_at)
      values ('e', ${projectId}, 'purchase', '{}', ${START})`)
  })
}

test('F7: a restored folder has the keys, images and secrets, and the fence', async (t) => {
  const { project, image, file, made } = backup
  const folder = path.join(await temporaryFolder(t), 'new', 'data')
  const config = configOf(folder)
  const restored = await restore(file, config)
  assert.deepEqual(
    [restored.projects, restored.generation, restored.manifest.seq],
    [1, 1, made.seq],
  )
  assert.deepEqual((await readdir(folder)).sort(), [
    'generation',
    'pillarbox.db',
    'pillarbox.db.serving',
    'secret',
    'uploads',
  ])
  for (const [name, mode] of [
    ['', 0o700],
    ['secret', 0o600],
    ['pillarbox.db', 0o600],
    ['uploads', 0o700],
  ] as const) {
    assert.equal((await stat(path.join(folder, name))).mode & 0o777, mode, name)
  }
  assert.equal(await readFile(path.join(folder, 'secret'), 'utf8'), `${SECRET}\n`)
  const bytes = await readImageFile(config, image, { offset: 0, maxBytes: 100 })
  assert.equal(String(Buffer.from(bytes ?? [])), 'an image')
  const core = await openCore(config, { log })
  t.after(() => core.close())
  assert.equal(
    (await core.directory.findProjectByDigest(digestSecret(project.secret)))?.id,
    project.id,
  )
  const [row] = await core.store.read.all<{ seq: number; fences: number }>(
    sql`select (select seq from sqlite_sequence where name = 'events') as seq,
      (select count(*) from fences where project_id = ${project.id}) as fences`,
  )
  assert.equal(row?.fences, 1)
  assert.ok(Number(row?.seq) >= made.seq + 1_000_000)
})

const USED: [name: string, file: string][] = [
  ['a database', 'pillarbox.db'],
  ["a database's log", 'pillarbox.db-wal'],
  ['a secret', 'secret'],
  ['images', 'uploads'],
  ['certificates', 'acme'],
]

for (const [name, file] of USED) {
  test(`a folder with ${name} is refused and stays as it is`, async (t) => {
    const folder = await temporaryFolder(t)
    await writeFile(path.join(folder, file), 'precious')
    await assert.rejects(restore(backup.file, configOf(folder)), { code: 'CONFLICT' })
    assert.deepEqual(await readdir(folder), [file])
    assert.equal(await readFile(path.join(folder, file), 'utf8'), 'precious')
  })
}

test('other files in the folder do not matter and stay', async (t) => {
  const { file } = backup
  const folder = await temporaryFolder(t)
  await writeFile(path.join(folder, '.bashrc'), 'mine')
  await restore(file, configOf(folder))
  assert.equal(await readFile(path.join(folder, '.bashrc'), 'utf8'), 'mine')
})

test('a folder that a server is starting on is refused', async (t) => {
  const { file } = backup
  const config = configOf(await temporaryFolder(t))
  const lock = await takeServeLock(config.database.file, { log })
  t.after(() => lock.release())
  await assert.rejects(restore(file, config), { code: 'CONFLICT' })
  const names = await readdir(config.dataDir)
  assert.deepEqual(
    names.filter((name) => !name.startsWith('pillarbox.db.serving')),
    [],
  )
})

test('F8: a backup of a newer program is refused, with the version that fits', async (t) => {
  const core = await openTestCore(t)
  const connection = openConnection({ path: core.config.database.file, busyTimeoutMs: 1000 })
  t.after(() => connection.close())
  const current = Number(connection.value('PRAGMA user_version')())
  connection.script(`PRAGMA user_version = ${current + 1}`)
  const file = path.join(await temporaryFolder(t), 'a.tar.zst')
  await backUp(core, file)
  connection.script(`PRAGMA user_version = ${current}`)
  const folder = await temporaryFolder(t)
  await assert.rejects(restore(file, configOf(folder)), {
    code: 'DATABASE_ERROR',
    message: new RegExp(`newer version of this program \\(.+, schema ${current + 1};`),
  })
  assert.deepEqual(await readdir(folder), ['pillarbox.db.serving'])
})

test('a backup without its secret needs the right one in the configuration', async (t) => {
  const { file } = backupWithoutSecret
  const folder = await temporaryFolder(t)
  await assert.rejects(restore(file, configOf(folder)), {
    code: 'CONFLICT',
    message: 'The backup is without its secret.',
  })
  const wrong = { PILLARBOX_SECRET: 'another secret, which is long enough' }
  await assert.rejects(restore(file, configOf(folder, wrong)), { code: 'BAD_REQUEST' })
  assert.deepEqual(await readdir(folder), ['pillarbox.db.serving'])
  await restore(file, configOf(folder, { PILLARBOX_SECRET: SECRET }))
  assert.equal((await readdir(folder)).includes('secret'), false)
})

test('a configuration with another secret than the backup is refused', async (t) => {
  const { file } = backup
  const folder = await temporaryFolder(t)
  const config = configOf(folder, { PILLARBOX_SECRET: 'another secret, which is long enough' })
  await assert.rejects(restore(file, config), { code: 'CONFLICT', message: /another secret/ })
})

test('a failure in the middle takes everything back', async (t) => {
  const { file } = backup
  const folder = await temporaryFolder(t)
  const whole = await readFile(file)
  const cut = async function* () {
    yield whole.subarray(0, whole.length - 100)
  }
  const config = configOf(folder)
  await assert.rejects(
    restoreBackup({ config, now: () => START, log, openCore, tables: DUTIES.tables }, cut()),
    {
      code: 'BAD_REQUEST',
    },
  )
  assert.deepEqual(await readdir(folder), ['pillarbox.db.serving'])
})

const FOREIGN: [name: string, change: string, text: RegExp][] = [
  ['lacks a table', 'drop table emails', /damaged: it has no table emails/],
  [
    'has a view without an end in place of a table',
    `alter table projects rename to own; create view projects as
      with recursive n (id) as (select 1 union all select id + 1 from n) select id from n`,
    /damaged: it has no table projects/,
  ],
]

for (const [name, change, text] of FOREIGN) {
  test(`a backup whose database ${name} is refused`, async (t) => {
    const { file: own } = backup
    const file = await changeBackup(t, own, { sql: `PRAGMA foreign_keys = OFF; ${change}` })
    await assert.rejects(verifyBackup(DUTIES, await readPieces(file)), {
      code: 'BAD_REQUEST',
      message: text,
    })
    const folder = await temporaryFolder(t)
    await assert.rejects(restore(file, configOf(folder)), { code: 'BAD_REQUEST', message: text })
    assert.deepEqual(await readdir(folder), ['pillarbox.db.serving'])
  })
}

test('after an interruption nobody opens the folder, and the next restore begins anew', async (t) => {
  const { file } = backup
  const folder = await temporaryFolder(t)
  // As a kill during the last step leaves it.
  await mkdir(path.join(folder, '.restoring'))
  await mkdir(path.join(folder, 'uploads'))
  await writeFile(path.join(folder, 'secret'), 'half')
  await writeFile(path.join(folder, 'pillarbox.db.restoring'), 'half')
  const config = configOf(folder)
  await assert.rejects(openCore(config, { log }), { name: 'ConfigError', message: /restore/ })
  assert.equal((await readdir(folder)).includes('pillarbox.db'), false)
  await restore(file, config)
  assert.equal(await readFile(path.join(folder, 'secret'), 'utf8'), `${SECRET}\n`)
  const core = await openCore(config, { log })
  await core.close()
})

test('a restore that ended but for its last folder counts as ended', async (t) => {
  const { file } = backup
  const folder = await temporaryFolder(t)
  const config = configOf(folder)
  await restore(file, config)
  await mkdir(path.join(folder, '.restoring'))
  const core = await openCore(config, { log })
  await core.close()
  assert.equal((await readdir(folder)).includes('.restoring'), false)
})

test('a database outside data_dir is restored to its place', async (t) => {
  const { file } = backup
  const [folder, other] = [await temporaryFolder(t), await temporaryFolder(t)]
  const place = path.join(other, 'mail.db')
  const config = configOf(folder, { PILLARBOX_DATABASE__URL: `sqlite:${place}` })
  await restore(file, config)
  assert.deepEqual((await readdir(other)).sort(), ['mail.db', 'mail.db.serving'])
  const core = await openCore(config, { log })
  await core.close()
})

const MOVED: [name: string, text: string, moved: string | undefined][] = [
  [
    'sets data_dir',
    'data_dir = "data"\n[log]\nlevel = "info"',
    'data_dir = "/new"\n[log]\nlevel = "info"',
  ],
  [
    'adds data_dir before tables',
    '[log]\nlevel = "info"',
    'data_dir = "/new"\n[log]\nlevel = "info"',
  ],
  ['keeps the other comments', '# mine\ndata_dir = "x" # here', '# mine\ndata_dir = "/new"'],
  ['adds it to an empty file', '# x', 'data_dir = "/new"\n# x'],
  [
    'drops the place of the database',
    '[database]\nurl = "sqlite:/old/x.db"\n[billing]\nfree_emails = 1',
    'data_dir = "/new"\n[database]\n# url = "sqlite:/old/x.db"\n[billing]\nfree_emails = 1',
  ],
  [
    'drops it as a dotted key',
    'database.url = "sqlite:y.db"',
    'data_dir = "/new"\n# database.url = "sqlite:y.db"',
  ],
  ['gives up on what it cannot change line by line', 'data_dir = """\na"""', undefined],
  ['gives up on what is no TOML', 'data_dir = ', undefined],
]

for (const [name, text, moved] of MOVED) {
  test(`the configuration of a backup, moved: ${name}`, () => {
    assert.equal(relocateConfig(text, '/new'), moved)
  })
}
