/** Faults of archives: each is named, and nothing of a faulty archive passes for a whole one. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import type { Header } from 'tar-stream'
import {
  parseEnd,
  parseManifest,
  parseSecrets,
} from '../../../../src/features/operation/backup/archive/manifest.ts'
import { readArchive } from '../../../../src/features/operation/backup/archive/read-archive.ts'
import { writeArchive } from '../../../../src/features/operation/backup/archive/write-archive.ts'
import { makeArchive, pieces, type RawEntry, seal, sha256 } from './work.ts'

const DATABASE = 'the bytes of a database'
const FILES = [{ path: 'database/pillarbox.db', bytes: DATABASE.length }]
const DIGESTS = { 'database/pillarbox.db': sha256(DATABASE) }
const MANIFEST = {
  format: 'pillarbox-backup',
  formatVersion: 1,
  version: '9.9.9',
  schema: 21,
  generation: 0,
  seq: 7,
  createdAt: '2026-11-26T15:00:00.000Z',
  hostname: 'mail.example.com',
  withoutSecret: false,
  files: FILES,
  outside: [],
}

const TRAILER_BYTES = 40

const json = (name: string, value: unknown): RawEntry => [{ name }, JSON.stringify(value)]
const manifest = (more: Record<string, unknown> = {}) =>
  json('manifest.json', { ...MANIFEST, ...more })
const database: RawEntry = [{ name: 'database/pillarbox.db' }, DATABASE]
const end = json('end.json', { sha256: DIGESTS, deleted: [] })
const withFile = (path: string) => manifest({ files: [...FILES, { path, bytes: 1 }] })
const special = (more: Partial<Header>): RawEntry => [{ name: 'data/uploads/x', ...more }, '']

async function read(archive: Buffer): Promise<string[]> {
  const names: string[] = []
  await readArchive(pieces(archive), {
    async file({ path }, chunks) {
      names.push(path)
      for await (const _ of chunks);
    },
  })
  return names
}

async function faultOf(archive: Buffer): Promise<{ code: unknown; message: string }> {
  try {
    await read(archive)
  } catch (error) {
    assert.ok(error instanceof Error && 'code' in error, String(error))
    return { code: error.code, message: error.message }
  }
  assert.fail('the archive passed')
}

test('an archive as it is written passes', async () => {
  assert.deepEqual(await read(await makeArchive([manifest(), database, end])), [
    'database/pillarbox.db',
  ])
})

const FAULTS: [name: string, entries: RawEntry[], text: RegExp][] = [
  ['no entry', [], /is empty/],
  ['another tar file', [[{ name: 'hello.txt' }, 'hi']], /no backup of Pillarbox/],
  ['another format', [manifest({ format: 'other' })], /no backup of Pillarbox/],
  ['a newer format', [manifest({ formatVersion: 2 })], /format 2, which version 9\.9\.9/],
  ['a manifest that is not JSON', [[{ name: 'manifest.json' }, '{']], /not JSON/],
  ['a manifest without a size', [manifest({ files: [{ path: 'x' }] })], /malformed/],
  ['no database in the manifest', [manifest({ files: [] })], /no database/],
  ['a missing entry', [manifest(), end], /lacks database\/pillarbox\.db/],
  ['a missing end', [manifest(), database], /cut off/],
  ['an entry twice', [manifest(), database, database, end], /or has it twice/],
  ['a name twice in the manifest', [manifest({ files: [...FILES, ...FILES] })], /twice/],
  [
    'two names that differ in case',
    [
      manifest({
        files: [...FILES, { path: 'data/lists/A', bytes: 0 }, { path: 'data/lists/a', bytes: 0 }],
      }),
    ],
    /twice/,
  ],
  [
    'an entry that the manifest lacks',
    [manifest(), database, [{ name: 'data/lists/x' }, 'x'], end],
    /manifest lacks/,
  ],
  [
    'an end without a digest',
    [manifest(), database, json('end.json', { sha256: {}, deleted: [] })],
    /SHA-256 is not the one in/,
  ],
  [
    'a malformed end',
    [manifest(), database, json('end.json', { sha256: { x: 1 }, deleted: [] })],
    /end\.json is malformed/,
  ],
  ['an entry after the end', [manifest(), database, end, end], /goes on after/],
  [
    'a wrong size',
    [manifest(), [{ name: 'database/pillarbox.db' }, 'short'], end],
    /the manifest says/,
  ],
  [
    'a wrong digest',
    [manifest(), [{ name: 'database/pillarbox.db' }, DATABASE.toUpperCase()], end],
    /SHA-256 is not the one in/,
  ],
  [
    'a symbolic link',
    [manifest(), special({ type: 'symlink', linkname: '/etc/passwd' })],
    /symlink/,
  ],
  ['a hard link', [manifest(), special({ type: 'link', linkname: 'x' })], /link/],
  ['a device', [manifest(), special({ type: 'character-device' })], /character-device/],
  ['a folder', [manifest(), special({ type: 'directory' })], /directory/],
  ['a pipe', [manifest(), special({ type: 'fifo' })], /fifo/],
  ['an absolute name', [withFile('/etc/cron.d/x')], /forbidden name/],
  ['a name with ..', [withFile('data/../../x')], /forbidden name/],
  ['a name with a backslash', [withFile('data/..\\x')], /forbidden name/],
  ['a name with a NUL', [withFile('data/lists/x\0y')], /forbidden name/],
  ['a name with an empty part', [withFile('data//x')], /forbidden name/],
  ['an over-long name', [withFile(`data/lists/${'x'.repeat(300)}`)], /forbidden name/],
  ['a deep name', [withFile(`data/${'x/'.repeat(10)}x`)], /forbidden name/],
  ['a file of data_dir that no backup has', [withFile('data/generation')], /forbidden name/],
  ['a folder of data_dir as a file', [withFile('data/uploads')], /forbidden name/],
  [
    'a file that is the folder of another',
    [
      manifest({
        files: [...FILES, { path: 'data/lists/A', bytes: 0 }, { path: 'data/lists/a/b', bytes: 0 }],
      }),
    ],
    /data\/lists\/a as a file and as the folder of another/,
  ],
  ['a name outside the known places', [withFile('runtime/better_sqlite3.node')], /forbidden name/],
]

for (const [name, entries, text] of FAULTS) {
  test(`refused: ${name}`, async () => {
    const { code, message } = await faultOf(await makeArchive(entries))
    assert.equal(code, 'BAD_REQUEST')
    assert.match(message, text)
  })
}

test('a name in the tar itself is checked, too', async () => {
  const { message } = await faultOf(
    await makeArchive([manifest(), [{ name: '../../evil' }, 'x'], database, end]),
  )
  assert.match(message, /forbidden name/)
})

test('a file that was deleted meanwhile may be missing, the database may not', async () => {
  const image = { path: 'data/uploads/x', bytes: 1 }
  const files = manifest({ files: [...FILES, image] })
  const deleted = (...names: string[]) => json('end.json', { sha256: DIGESTS, deleted: names })
  assert.deepEqual(await read(await makeArchive([files, database, deleted(image.path)])), [
    'database/pillarbox.db',
  ])
  const { message } = await faultOf(
    await makeArchive([manifest(), deleted('database/pillarbox.db')]),
  )
  assert.match(message, /lacks database/)
})

test('an archive that is cut off anywhere is refused', async () => {
  const whole = await makeArchive([manifest(), database, end])
  for (let length = 0; length < whole.length; length += 7) {
    assert.equal((await faultOf(whole.subarray(0, length))).code, 'BAD_REQUEST', `${length}`)
  }
  assert.equal((await faultOf(whole.subarray(0, -1))).code, 'BAD_REQUEST')
})

test('a flipped bit anywhere is noticed', async () => {
  const whole = await makeArchive([manifest(), database, end])
  // Of what the digest covers, every third byte.
  const isLooked = (at: number) => at < 30 || at >= whole.length - TRAILER_BYTES || at % 3 === 0
  for (let at = 0; at < whole.length; at += 1) {
    if (!isLooked(at)) continue
    const broken = Buffer.from(whole)
    broken.writeUInt8(broken.readUInt8(at) ^ (1 << (at % 8)), at)
    assert.equal((await faultOf(broken)).code, 'BAD_REQUEST', `byte ${at}`)
  }
})

test('more bytes than the manifest says are not unpacked', async () => {
  const whole = await makeArchive([manifest(), database, end])
  const tar = zstdDecompressSync(whole.subarray(0, -TRAILER_BYTES))
  const { message } = await faultOf(seal(Buffer.concat([tar, Buffer.alloc(300 * 1024 * 1024)])))
  assert.match(message, /more bytes than its manifest says/)
})

test('S8: an archive has a million entries at most', () => {
  const many = 1_000_001
  const list = (item: string, count = many) => Array(count).fill(item).join()
  const files = `"files":[${list('{"path":"","bytes":0}')}]`
  const manifestText = JSON.stringify(MANIFEST).replace(/"files":\[.*?\]/, files)
  assert.throws(
    () => parseManifest(Buffer.from(manifestText)),
    /manifest\.json names more than 1000000 files/,
  )
  const ended = (deleted: number) =>
    parseEnd(Buffer.from(`{"sha256":{},"deleted":[${list('"x"', deleted)}]}`))
  assert.equal(ended(1_000_000).deleted.length, 1_000_000)
  assert.throws(() => ended(many), /end\.json names more than 1000000 files/)
})

test('S8: small values in large numbers are refused before they are parsed', () => {
  // No JSON: the parser does not see these.
  for (const mark of ['[', '{', ',']) {
    const bytes = Buffer.alloc(3_100_000, mark)
    for (const parse of [parseManifest, parseEnd, parseSecrets]) {
      assert.throws(() => parse(bytes), /names more than 1000000 files/)
    }
  }
})

test('a file that is no archive is refused', async () => {
  for (const bytes of [Buffer.from('hello'), Buffer.alloc(5000), zstdCompressSync('hello')]) {
    assert.equal((await faultOf(bytes)).code, 'BAD_REQUEST')
  }
})

test('errors of the source and of the receiver stay what they are', async () => {
  const whole = await makeArchive([manifest(), database, end])
  const failing = async function* () {
    yield whole.subarray(0, 50)
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
  }
  const drain = {
    file: async (_: unknown, chunks: AsyncIterable<Buffer>) => {
      for await (const _chunk of chunks);
    },
  }
  await assert.rejects(readArchive(failing(), drain), { code: 'EIO' })
  const full = Object.assign(new Error('no space'), { code: 'ENOSPC' })
  const refusing = { file: async () => Promise.reject(full) }
  await assert.rejects(readArchive(pieces(whole), refusing), { code: 'ENOSPC' })
})

test('a source that changes while it is archived, a sink that fails and an abort end the writing', async () => {
  const content = { manifest: MANIFEST as never, read: () => [Buffer.from(DATABASE)] }
  const drain = async (chunks: AsyncIterable<Buffer>) => {
    for await (const _ of chunks);
  }
  const { signal } = new AbortController()
  const changed = { ...content, read: () => [Buffer.from(`${DATABASE}!`)] }
  await assert.rejects(writeArchive(changed, drain, signal), /was changed while/)
  const full = async () => Promise.reject(new Error('the disk is full'))
  await assert.rejects(writeArchive(content, full, signal), /the disk is full/)
  const aborted = AbortSignal.abort(new Error('given up'))
  await assert.rejects(writeArchive(content, drain, aborted), /given up/)
})
