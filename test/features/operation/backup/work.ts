/** Archives of every kind, and a core whose database can be backed up. */
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'
import { zstdCompressSync } from 'node:zlib'
import { pack as createPack, type Header } from 'tar-stream'
import { type LoadedConfig, loadSettings } from '../../../../src/config/load.ts'
import {
  type BackupManifest,
  ENTRY,
} from '../../../../src/features/operation/backup/archive/manifest.ts'
import { readArchive } from '../../../../src/features/operation/backup/archive/read-archive.ts'
import { formatTrailer } from '../../../../src/features/operation/backup/archive/trailer.ts'
import {
  type Backup,
  type BackupInput,
  createBackup,
} from '../../../../src/features/operation/backup/create/create-backup.ts'
import { openConnection } from '../../../../src/store/connection.ts'
import { HOSTNAME, SECRET, type TestCore } from '../../../core.ts'

export type RawHeader = Partial<Header> & { name: string }
export type RawEntry = [header: RawHeader, content: Buffer | string]

export const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex')

/** A tar archive of these entries as they are, compressed and with the right end. */
export async function makeArchive(entries: readonly RawEntry[]): Promise<Buffer> {
  const pack = createPack()
  for (const [header, content] of entries) pack.entry(header, Buffer.from(content))
  pack.finalize()
  const parts: Buffer[] = []
  for await (const part of pack) parts.push(part as Buffer)
  return seal(Buffer.concat(parts))
}

export function seal(tar: Buffer): Buffer {
  const packed = zstdCompressSync(tar)
  return Buffer.concat([packed, formatTrailer(createHash('sha256').update(packed).digest())])
}

/** In pieces, as a file comes. */
export async function* pieces(bytes: Buffer, size = 1000): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

export async function temporaryFolder(t: Pick<TestContext, 'after'>): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-backup-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  return folder
}

/** The settings of a test's core, as a command loads them. */
export function settingsOf(core: TestCore, settings: Record<string, string> = {}): LoadedConfig {
  const env = {
    PILLARBOX_SECRET: SECRET,
    PILLARBOX_DATA_DIR: core.config.dataDir,
    PILLARBOX_DELIVERY__HOSTNAME: HOSTNAME,
    PILLARBOX_BACKUP__MIN_FREE_BYTES: '0',
    ...settings,
  }
  const cwd = core.config.dataDir
  return loadSettings({ cwd, systemFile: path.join(cwd, 'none'), env })
}

export function backUp(
  core: TestCore,
  to: BackupInput['to'],
  more: { withoutSecret?: boolean; settings?: Record<string, string> } = {},
): Promise<Backup> {
  const loaded = settingsOf(core, more.settings)
  const { now } = core
  return createBackup({ loaded, now }, { to, withoutSecret: more.withoutSecret ?? false })
}

export async function readPieces(file: string): Promise<AsyncGenerator<Buffer>> {
  return pieces(await readFile(file), 65_536)
}

/** A copy of a backup with another database or manifest, and the right sizes and digests. */
export async function changeBackup(
  t: Pick<TestContext, 'after'>,
  file: string,
  change: { sql?: string; manifest?: Partial<BackupManifest> },
): Promise<string> {
  const parts = new Map<string, Buffer>()
  const { manifest } = await readArchive(await readPieces(file), {
    file: async (one, chunks) => {
      parts.set(one.path, Buffer.concat(await Array.fromAsync(chunks)))
    },
  })
  const folder = await temporaryFolder(t)
  const database = path.join(folder, 'copy.db')
  await writeFile(database, parts.get(ENTRY.database) ?? '')
  const connection = openConnection({ path: database, busyTimeoutMs: 1000 })
  connection.script(`${change.sql ?? ''}; PRAGMA journal_mode = DELETE`)
  connection.close()
  parts.set(ENTRY.database, await readFile(database))
  const files = [...parts].map(([name, bytes]) => ({ path: name, bytes: bytes.length }))
  const digests = Object.fromEntries([...parts].map(([name, bytes]) => [name, sha256(bytes)]))
  const changed = path.join(folder, 'changed.tar.zst')
  const entries: RawEntry[] = [
    [{ name: ENTRY.manifest }, JSON.stringify({ ...manifest, ...change.manifest, files })],
    ...[...parts].map(([name, bytes]): RawEntry => [{ name }, bytes]),
    [{ name: ENTRY.end }, JSON.stringify({ sha256: digests, deleted: [] })],
  ]
  await writeFile(changed, await makeArchive(entries))
  return changed
}
