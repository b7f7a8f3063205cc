/** Backups beside a store that is in use. */
import assert from 'node:assert/strict'
import {
  appendFile,
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  stat,
  symlink,
  writeFile,
} from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { readToml } from '../../../../src/config/layers/file.ts'
import { DUTIES } from '../../../../src/core/areas.ts'
import { ENTRY } from '../../../../src/features/operation/backup/archive/manifest.ts'
import { readArchive } from '../../../../src/features/operation/backup/archive/read-archive.ts'
import { listDataFiles } from '../../../../src/features/operation/backup/create/contents.ts'
import { watchSpace } from '../../../../src/features/operation/backup/create/space-watch.ts'
import { verifyBackup } from '../../../../src/features/operation/backup/inspect/verify-backup.ts'
import { writeImageFile } from '../../../../src/features/tenancy/uploads/image-files.ts'
import { openConnection } from '../../../../src/store/connection.ts'
import { projects } from '../../../../src/store/schema/accounts.ts'
import { takeBackupLock } from '../../../../src/store/snapshot/backup-lock.ts'
import { openDatabaseCopy } from '../../../../src/store/snapshot/unmigrated.ts'
import { addProject, openTestCore, SECRET, trustDomain } from '../../../core.ts'
import { pause } from '../../../pause.ts'
import { backUp, readPieces, temporaryFolder } from './work.ts'

/** The files of an archive by name, and the text of all of them. */
async function unpack(file: string) {
  const files = new Map<string, Buffer>()
  const { manifest } = await readArchive(await readPieces(file), {
    async file(one, chunks) {
      const parts: Buffer[] = []
      for await (const chunk of chunks) parts.push(chunk)
      files.set(one.path, Buffer.concat(parts))
    },
  })
  return { manifest, files }
}

async function idsIn(t: Parameters<typeof temporaryFolder>[0], file: string): Promise<string[]> {
  const { files } = await unpack(file)
  const copyFile = path.join(await temporaryFolder(t), 'copy.db')
  await writeFile(copyFile, files.get(ENTRY.database) ?? '')
  const copy = openDatabaseCopy(copyFile)
  const rows = await copy.read.select({ id: projects.id }).from(projects).all()
  assert.deepEqual(copy.check(), [])
  copy.close()
  return rows.map(({ id }) => id)
}

test('a backup beside constant writes holds all that was acknowledged before, and no half of what came after', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const acknowledged: string[] = []
  let isOver = false
  const writing = (async () => {
    while (!isOver) {
      acknowledged.push((await addProject(core)).id)
      await pause()
    }
  })()
  for (const name of ['one', 'two']) {
    const before = acknowledged.length
    const file = path.join(folder, `${name}.tar.zst`)
    await backUp(core, file)
    const during = acknowledged.length - before
    const inside = await idsIn(t, file)
    assert.ok(inside.length >= before, `${inside.length} of ${before}`)
    assert.deepEqual(new Set(inside), new Set(acknowledged.slice(0, inside.length)))
    assert.ok(during > 0, 'the writes went on')
  }
  isOver = true
  await writing
  // The log, which grew meanwhile, is emptied again once nobody reads from it.
  const connection = openConnection({ path: core.config.database.file, busyTimeoutMs: 1000 })
  t.after(() => connection.close())
  const [isBusy] = connection.run('PRAGMA wal_checkpoint(TRUNCATE)', [], 'row') as number[]
  assert.equal(isBusy, 0)
})

test('a backup holds images, lists and certificates, but no links, locks or logs', async (t) => {
  const core = await openTestCore(t)
  const { dataDir } = core.config
  const image = await writeImageFile(core.config, [Buffer.from('an image')])
  await mkdir(path.join(dataDir, 'lists'))
  await writeFile(path.join(dataDir, 'lists', 'free.txt'), 'free.test\n')
  await writeFile(path.join(dataDir, 'lists', 'my own list.txt'), 'odd name')
  await mkdir(path.join(dataDir, 'acme', 'mail.example.test'), { recursive: true })
  await writeFile(path.join(dataDir, 'acme', 'mail.example.test', 'key.pem'), 'a key')
  await symlink('/etc/passwd', path.join(dataDir, 'lists', 'link.txt'))
  await mkdir(path.join(dataDir, 'runtime'))
  await writeFile(path.join(dataDir, 'runtime', 'x'), 'x')
  await writeFile(path.join(dataDir, 'generation'), '{}')
  const file = path.join(await temporaryFolder(t), 'backup.tar.zst')
  const made = await backUp(core, file)
  assert.equal((await stat(file)).mode & 0o777, 0o600)
  assert.equal(made.bytes, (await stat(file)).size)
  assert.deepEqual(
    made.outside.filter(({ key }) => key === 'data_dir').map(({ place }) => path.basename(place)),
    ['environment variable PILLARBOX_DATA_DIR', 'my own list.txt'],
  )
  const { files } = await unpack(file)
  assert.deepEqual([...files.keys()].sort(), [
    'data/acme/mail.example.test/key.pem',
    'data/lists/free.txt',
    `data/uploads/${image.slice(-2)}/${image}`,
    'database/pillarbox.db',
    'secrets.json',
  ])
  assert.deepEqual(JSON.parse(String(files.get('secrets.json'))), {
    secret: SECRET,
    secretPrevious: null,
  })
  assert.equal((await verifyBackup(DUTIES, await readPieces(file))).opensSecrets, true)
})

test('an image that is still being written does not end the backup', async (t) => {
  const core = await openTestCore(t)
  const folder = path.join(core.config.dataDir, 'uploads', '00')
  await mkdir(folder, { recursive: true })
  for (const [name, begun] of Object.entries({ empty: '', begun: 'the first' })) {
    await writeFile(path.join(folder, name), begun)
  }
  const found = await Array.fromAsync(
    listDataFiles(core.config.dataDir, { withoutSecret: false }),
    ({ entry, bytes, read }) => ({ name: path.basename(entry), bytes, read }),
  )
  for (const { name } of found) await appendFile(path.join(folder, name), ' and more')
  for (const { name, bytes, read } of found) {
    const content = Buffer.concat(await Array.fromAsync(read()))
    assert.deepEqual([name, content.length], [name, bytes])
  }
  assert.deepEqual(
    found.map(({ bytes }) => bytes),
    ['the first'.length, 0],
  )
})

test('more files than an archive may have are refused, and the folder is named', async (t) => {
  const dataDir = await temporaryFolder(t)
  await mkdir(path.join(dataDir, 'uploads'))
  for (const name of ['a', 'b', 'c']) await writeFile(path.join(dataDir, 'uploads', name), name)
  const list = (maxFiles: number) =>
    Array.fromAsync(listDataFiles(dataDir, { withoutSecret: false, maxFiles }))
  assert.equal((await list(3)).length, 3)
  await assert.rejects(list(2), { code: 'CONFLICT', message: new RegExp(`^${dataDir} has more`) })
})

test('without secrets, no secret is inside, and the manifest says so', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const toml = path.join(core.config.dataDir, 'pillarbox.toml')
  const password = 'the-password-of-the-smarthost'
  const lines = [
    `secret_previous = "${'an older secret '.repeat(3)}"`,
    'base_url = "https://mail.example.test"',
    '[delivery.relay]',
    'host = "smtp.example.test"',
    'username = "me"',
    `password = """${password}"""`,
  ]
  await writeFile(toml, lines.join('\n'))
  await mkdir(path.join(core.config.dataDir, 'acme'))
  await writeFile(path.join(core.config.dataDir, 'acme', 'account.key'), 'an account key')
  const settings = { PILLARBOX_DELIVERY__MODE: 'relay' }
  const file = path.join(folder, 'open.tar.zst')
  await backUp(core, file, { withoutSecret: true, settings })
  const { manifest, files } = await unpack(file)
  assert.equal(manifest.withoutSecret, true)
  assert.deepEqual([...files.keys()].sort(), ['database/pillarbox.db', 'pillarbox.toml'])
  const all = Buffer.concat([...files.values()])
  for (const secret of [SECRET, password, 'an older secret', 'an account key']) {
    assert.equal(all.includes(secret), false, secret)
  }
  assert.match(String(files.get('pillarbox.toml')), /^base_url = "https:\/\/mail\.example\.test"$/m)
  assert.equal((await verifyBackup(DUTIES, await readPieces(file))).opensSecrets, null)
  // With them, the file is inside as it is.
  const whole = path.join(folder, 'whole.tar.zst')
  await backUp(core, whole, { settings })
  assert.equal(
    String((await unpack(whole)).files.get('pillarbox.toml')),
    await readFile(toml, 'utf8'),
  )
})

test('without secrets, the configuration still names the files that hold them', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const password = path.join(folder, 'password')
  await writeFile(password, 'the-password-of-the-smarthost')
  const given = { host: 'smtp.example.test', username: 'me', password_file: password }
  const lines = Object.entries(given).map(([key, value]) => `${key} = ${JSON.stringify(value)}`)
  const toml = path.join(core.config.dataDir, 'pillarbox.toml')
  await writeFile(toml, ['[delivery.relay]', ...lines].join('\n'))
  const file = path.join(folder, 'open.tar.zst')
  const settings = { PILLARBOX_DELIVERY__MODE: 'relay' }
  await backUp(core, file, { withoutSecret: true, settings })
  const { files } = await unpack(file)
  const read = readToml({ file, text: String(files.get('pillarbox.toml')) })
  assert.deepEqual(read.problems, [])
  assert.deepEqual(
    Object.fromEntries([...read.given].map(([key, { value }]) => [key.split('.').at(-1), value])),
    given,
  )
})

test('files and variables that the configuration names are listed as not inside', async (t) => {
  const core = await openTestCore(t)
  const secret = path.join(await temporaryFolder(t), 'password')
  await writeFile(secret, 'hush\n')
  const env = {
    PILLARBOX_DELIVERY__RELAY__PASSWORD_FILE: secret,
    PILLARBOX_DELIVERY__RELAY__USERNAME: 'me',
    PILLARBOX_DELIVERY__RELAY__HOST: 'smtp.example.test',
    PILLARBOX_DELIVERY__MODE: 'relay',
  }
  const sink = async (chunks: AsyncIterable<Buffer>) => {
    for await (const _ of chunks);
  }
  const { outside } = await backUp(core, sink, { settings: env })
  const keys = outside.map(({ key }) => key)
  assert.ok(keys.includes('delivery.relay.password_file'))
  assert.ok(keys.includes('secret'), 'of the environment')
  assert.equal(JSON.stringify(outside).includes('hush'), false)
  assert.equal(
    keys.includes('data_dir') && outside.some(({ place }) => place === core.config.dataDir),
    false,
  )
})

test('below backup.min_free_bytes a backup gives up and leaves nothing', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const settings = { PILLARBOX_BACKUP__MIN_FREE_BYTES: String(1_000_000 * 1024 * 1024) }
  await assert.rejects(backUp(core, path.join(folder, 'a.tar.zst'), { settings }), {
    code: 'INSUFFICIENT_STORAGE',
  })
  assert.deepEqual(await readdir(folder), [])
  await addProject(core)
})

test('a disk that fills up in the middle ends the backup', async (t) => {
  const folder = await temporaryFolder(t)
  let free = 2_000
  const read = async () => ({ free, total: 10_000, freeInodes: 1, totalInodes: 1 })
  const watch = await watchSpace({ folders: [folder], minFreeBytes: 1_000, everyMs: 1, read })
  t.after(watch.stop)
  assert.equal(watch.signal.aborted, false)
  const ended = new Promise((resolve) => watch.signal.addEventListener('abort', resolve))
  free = 999
  await ended
  assert.equal(watch.signal.reason.code, 'INSUFFICIENT_STORAGE')
})

test('an existing file is refused and stays as it is', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const file = path.join(folder, 'a.tar.zst')
  await writeFile(file, 'precious')
  await assert.rejects(backUp(core, file), { code: 'CONFLICT' })
  assert.equal(await readFile(file, 'utf8'), 'precious')
  assert.deepEqual(await readdir(folder), ['a.tar.zst'])
})

test('one backup runs at a time, and the next one removes what a killed one left', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const file = path.join(folder, 'a.tar.zst')
  const lock = takeBackupLock(core.config.database.file)
  await assert.rejects(backUp(core, file), { code: 'CONFLICT', message: /Another backup/ })
  lock.release()
  const sink = async (chunks: AsyncIterable<Buffer>) => {
    for await (const _ of chunks) {
      // Another one begins while this one writes.
      await assert.rejects(backUp(core, file), { code: 'CONFLICT' })
      return
    }
  }
  await backUp(core, sink).catch(() => undefined)
  await backUp(core, file)
  const [name = ''] = await readdir(folder)
  assert.equal(name, 'a.tar.zst')
  await writeFile(path.join(folder, 'x'), '')
  // The temporary name is the same each time.
  const failing = backUp(core, path.join(folder, 'a.tar.zst'))
  await assert.rejects(failing, { code: 'CONFLICT' })
  assert.deepEqual((await readdir(folder)).sort(), ['a.tar.zst', 'x'])
})

test('a disk that keeps other bytes than were written ends the backup, which leaves nothing', async (t) => {
  const core = await openTestCore(t)
  const folder = await temporaryFolder(t)
  const any = await open(path.join(await temporaryFolder(t), 'any'), 'w')
  const fileHandle = Object.getPrototypeOf(any)
  await any.close()
  // The last act of writing is to make the file durable.
  t.mock.method(fileHandle, 'sync', async function (this: FileHandle) {
    // Any other byte than the one that is there.
    const file = path.join(folder, (await readdir(folder))[0] ?? '')
    const at = (await this.stat()).size - 100
    const byte = (await readFile(file))[at] ?? 0
    await this.write(Buffer.from([byte ^ 0xff]), 0, 1, at)
  })
  const failing = backUp(core, path.join(folder, 'a.tar.zst'))
  await assert.rejects(failing, /on the disk is not what was written/)
  assert.deepEqual(await readdir(folder), [])
})

test('a damaged database is not backed up', async (t) => {
  const core = await openTestCore(t)
  const project = await addProject(core)
  await trustDomain(core, project.id, 'example.test')
  const { database } = core.config
  const damaging = openConnection({ path: database.file, busyTimeoutMs: 1000 })
  damaging.script('PRAGMA wal_checkpoint(TRUNCATE)')
  const page = Number(
    damaging.value("select rootpage from sqlite_schema where name = 'projects'")(),
  )
  const pageBytes = Number(damaging.value('PRAGMA page_size')())
  damaging.close()
  const bytes = await readFile(database.file)
  bytes.fill(0x5a, (page - 1) * pageBytes, (page - 1) * pageBytes + 64)
  const folder = await temporaryFolder(t)
  const copy = path.join(folder, 'pillarbox.db')
  await writeFile(copy, bytes)
  const opened = openConnection({ path: copy, busyTimeoutMs: 1000 })
  opened.script('PRAGMA journal_mode = WAL')
  t.after(() => opened.close())
  const target = path.join(await temporaryFolder(t), 'a.tar.zst')
  await assert.rejects(
    backUp(core, target, { settings: { PILLARBOX_DATABASE__URL: `sqlite:${copy}` } }),
    { code: 'DATABASE_ERROR' },
  )
  assert.deepEqual(await readdir(path.dirname(target)), [])
})

test('a backup by another version of the program migrates nothing', async (t) => {
  const core = await openTestCore(t)
  const connection = openConnection({ path: core.config.database.file, busyTimeoutMs: 1000 })
  t.after(() => connection.close())
  const schema = connection.value('PRAGMA user_version')
  const current = Number(schema())
  connection.script(`PRAGMA user_version = ${current + 1}`)
  const file = path.join(await temporaryFolder(t), 'a.tar.zst')
  assert.equal((await backUp(core, file)).schema, current + 1)
  assert.equal(schema(), current + 1)
  const verified = await verifyBackup(DUTIES, await readPieces(file))
  assert.equal(verified.isNewer, true)
  connection.script(`PRAGMA user_version = ${current}`)
})
