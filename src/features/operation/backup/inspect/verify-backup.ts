/**
 * Verifies a backup without restoring it. The database is unpacked into a temporary folder and opened, so
 * the folder needs as much free space as the database takes.
 */
import { createWriteStream } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import { AppError } from '../../../../base/errors.ts'
import { nativeBindingPath } from '../../../../config/addon.ts'
import { createKeyring, type Keyring } from '../../../../config/keyring.ts'
import { readSpace } from '../../../../store/files/disk.ts'
import type { TableDuties } from '../../../ground/manifest/table.ts'
import { type BackupManifest, ENTRY, parseSecrets } from '../archive/manifest.ts'
import { readArchive } from '../archive/read-archive.ts'
import { type CopyFacts, inspectCopy, knownSchema } from './inspect-copy.ts'

export type VerifiedBackup = CopyFacts & {
  manifest: BackupManifest
  /** Whether the backup comes from a newer program, which this one cannot restore. */
  isNewer: boolean
  /** Null if the backup is without its secret. */
  opensSecrets: true | null
}

const MIB = 1024 * 1024
const MAX_SECRETS_BYTES = 64 * 1024

/**
 * `tables`: those of all areas.
 * @throws AppError BAD_REQUEST that names the fault; INSUFFICIENT_STORAGE
 */
export async function verifyBackup(
  { tables }: { tables: readonly TableDuties[] },
  source: AsyncIterable<Buffer>,
): Promise<VerifiedBackup> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'pillarbox-verify-'))
  const file = path.join(folder, 'pillarbox.db')
  const unpacked: { keyring: Keyring | null } = { keyring: null }
  try {
    const { manifest } = await readArchive(source, {
      manifest: (found) => requireSpace(folder, found),
      async file({ path: name, bytes }, chunks) {
        if (name === ENTRY.database)
          return pipeline(chunks, createWriteStream(file, { mode: 0o600 }))
        if (name === ENTRY.secrets) {
          const { secret, secretPrevious } = parseSecrets(await readSmall(bytes, chunks))
          unpacked.keyring = createKeyring(secret, secretPrevious)
          return
        }
        for await (const _ of chunks);
      },
    })
    // The native binding of SQLite is unpacked into this folder, because the machine may have no
    // server and no data folder.
    const nativeBinding = nativeBindingPath(folder)
    const facts = await inspectCopy({ file, nativeBinding, tables }, manifest, unpacked.keyring)
    const opensSecrets = unpacked.keyring === null ? null : (true as const)
    return { ...facts, manifest, isNewer: facts.schema > knownSchema(), opensSecrets }
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** Reads a file of the archive, which must be small. */
export async function readSmall(bytes: number, chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  if (bytes > MAX_SECRETS_BYTES) throw new AppError('BAD_REQUEST', 'secrets.json is too large.')
  const parts: Buffer[] = []
  for await (const chunk of chunks) parts.push(chunk)
  return Buffer.concat(parts)
}

async function requireSpace(folder: string, { files }: BackupManifest): Promise<void> {
  const needed = files.find(({ path: name }) => name === ENTRY.database)?.bytes ?? 0
  const { free } = await readSpace(folder)
  if (free > needed) return
  const text = `The database in the backup takes ${Math.ceil(needed / MIB)} MB, and ${path.dirname(folder)} has ${Math.floor(free / MIB)} MB free.`
  throw new AppError('INSUFFICIENT_STORAGE', text, {
    suggestion: 'Set TMPDIR to a folder on a disk with more space.',
  })
}
