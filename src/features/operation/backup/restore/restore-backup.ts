/**
 * Restores a backup into a folder that no server uses:
 *
 *   1. everything is unpacked and checked beside its place (`data-folder.ts`); each file is durable
 *   2. the database is opened: its integrity, its schema, and whether the secret opens its keys
 *   3. the database gets its fence: what would act by itself is held (`recovery/fence-database.ts`). An
 *      older database is migrated by this
 *   4. all is moved into place, the database last
 *
 * A failure before the end takes everything back. After a kill no server starts on the folder, and the
 * next restore begins anew.
 */
import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, readdir } from 'node:fs/promises'
import path from 'node:path'
import type { Now } from '../../../../base/clock.ts'
import { AppError, hasCode } from '../../../../base/errors.ts'
import type { Log } from '../../../../base/log.ts'
import { nativeBindingPath } from '../../../../config/addon.ts'
import type { Config } from '../../../../config/config.ts'
import { createKeyring } from '../../../../config/keyring.ts'
import { prepareDataDir } from '../../../../config/secret.ts'
import { syncFolder } from '../../../../config/sync-folder.ts'
import { readSpace } from '../../../../store/files/disk.ts'
import { takeServeLock } from '../../../../store/files/serve-lock.ts'
import type { TableDuties } from '../../../ground/manifest/table.ts'
import { findNewestWish } from '../../../people/wishes/wishes.ts'
import { type FenceDeps, type Fenced, fenceDatabase } from '../../recovery/fence-database.ts'
import {
  type BackupManifest,
  type BackupSecrets,
  ENTRY,
  parseSecrets,
} from '../archive/manifest.ts'
import { readArchive } from '../archive/read-archive.ts'
import { type CopyFacts, inspectCopy, knownSchema } from '../inspect/inspect-copy.ts'
import { readSmall } from '../inspect/verify-backup.ts'
import {
  deleteStaging,
  discardStaging,
  makeStaging,
  publishStaging,
  type RestorePlace,
  refuseUsed,
  type StagingFolder,
  stagedPathOf,
} from './data-folder.ts'

type RestoreDeps = {
  /** The configuration of the restored server, whose `data_dir` and database are the place of the restore. */
  config: Config
  now: Now
  log: Log
  /** The tables of all areas. */
  tables: readonly TableDuties[]
  /** Opens the unpacked database as the server would, which migrates an older one. */
  openCore(config: Config, options: { log: Log; now: Now }): Promise<OpenedCore>
}

type OpenedCore = FenceDeps & { close(): Promise<void> }

export type RestoredBackup = CopyFacts &
  Fenced & {
    /**
     * The time of the newest wish in the backup; null without wishes. Wishes after that time are
     * lost.
     */
    newestWishAt: number | null
    manifest: BackupManifest
    /** The configuration file of the backup; undefined without one. */
    configText: Buffer | undefined
    /** Null if the backup has no secret. */
    secrets: BackupSecrets | null
  }

type Unpacked = {
  manifest: BackupManifest
  configText: Buffer | undefined
  secrets: BackupSecrets | null
}

const MIB = 1024 * 1024
const MAX_CONFIG_BYTES = MIB

/**
 * @throws AppError CONFLICT for a folder in use; BAD_REQUEST for a fault of the backup;
 *   DATABASE_ERROR for one of a newer program; INSUFFICIENT_STORAGE
 */
export async function restoreBackup(
  deps: RestoreDeps,
  source: AsyncIterable<Buffer>,
): Promise<RestoredBackup> {
  const { config, log } = deps
  const place = { dataDir: config.dataDir, databaseFile: config.database.file }
  refuseUsed(place)
  await prepareDataDir(config)
  const nativeBinding = nativeBindingPath(config.dataDir)
  const lock = await takeServeLock(place.databaseFile, { log, nativeBinding })
  try {
    // Checks a second time, because another restore may have ended meanwhile.
    refuseUsed(place)
    const staging = await makeStaging(place)
    const restored = await fillAndPublish().catch(async (error: unknown) => {
      await discardStaging(place, staging)
      throw error
    })
    await deleteStaging(place, staging)
    return restored

    async function fillAndPublish(): Promise<RestoredBackup> {
      const unpacked = await unpack(source, { place, staging })
      const filled = await prepare(deps, { staging, unpacked, nativeBinding })
      await publishStaging(place, staging)
      return filled
    }
  } finally {
    lock.release()
  }
}

async function unpack(
  source: AsyncIterable<Buffer>,
  { place, staging }: { place: RestorePlace; staging: StagingFolder },
): Promise<Unpacked> {
  const found: Omit<Unpacked, 'manifest'> = { configText: undefined, secrets: null }
  const { manifest } = await readArchive(source, {
    async manifest(one) {
      refuseNewer(one)
      await requireSpace(place, one)
    },
    async file({ path: name, bytes }, chunks) {
      if (name === ENTRY.database) return writeDurably(staging.databaseFile, chunks)
      if (name === ENTRY.secrets) {
        found.secrets = parseSecrets(await readSmall(bytes, chunks))
        return
      }
      if (name === ENTRY.config) {
        if (bytes > MAX_CONFIG_BYTES) throw new AppError('BAD_REQUEST', `${name} is too large.`)
        const parts: Buffer[] = []
        for await (const chunk of chunks) parts.push(chunk)
        found.configText = Buffer.concat(parts)
        return
      }
      await writeDurably(stagedPathOf(staging, name), chunks)
    },
  })
  return { ...found, manifest }
}

type Prepared = { staging: StagingFolder; unpacked: Unpacked; nativeBinding: string | undefined }

async function prepare(
  deps: RestoreDeps,
  { staging, unpacked, nativeBinding }: Prepared,
): Promise<RestoredBackup> {
  const { config } = deps
  const { manifest, secrets } = unpacked
  const secret = chooseSecret(config, secrets)
  const keyring = createKeyring(secret, secrets?.secretPrevious ?? config.secretPrevious)
  const facts = await inspectCopy(
    { file: staging.databaseFile, nativeBinding, tables: deps.tables },
    manifest,
    keyring,
  )
  if (secrets !== null) await writeSecrets(staging.folder, secrets)
  const generation = path.join(config.dataDir, 'generation')
  await copyFile(generation, path.join(staging.folder, 'generation')).catch(ignoreMissing)
  const fenced = await fence(deps, { staging, secret, secrets })
  if (existsSync(`${staging.databaseFile}-wal`)) {
    throw new AppError('DATABASE_ERROR', 'The restored database could not be closed.')
  }
  await syncFile(staging.databaseFile)
  await syncFolders(staging.folder)
  return { ...facts, ...fenced, ...unpacked }
}

async function fence(
  { config, now, log, openCore }: RestoreDeps,
  {
    staging,
    secret,
    secrets,
  }: { staging: StagingFolder; secret: string; secrets: BackupSecrets | null },
): Promise<Fenced & Pick<RestoredBackup, 'newestWishAt'>> {
  const core = await openCore(
    {
      ...config,
      secret,
      secretPrevious: secrets?.secretPrevious ?? config.secretPrevious,
      dataDir: staging.folder,
      database: { ...config.database, file: staging.databaseFile },
    },
    { log, now },
  )
  try {
    const fenced = await fenceDatabase(core, { cause: 'restore', isAlone: true })
    return { ...fenced, newestWishAt: await findNewestWish(core) }
  } finally {
    await core.close()
  }
}

/**
 * Returns the secret of the backup, or that of the configuration.
 * @throws AppError CONFLICT when the configuration has another secret, or there is no secret
 */
function chooseSecret({ secret }: Config, secrets: BackupSecrets | null): string {
  if (secrets !== null && (secret === null || secret === secrets.secret)) return secrets.secret
  if (secrets !== null) {
    const text = 'The configuration has another secret than the backup.'
    throw new AppError('CONFLICT', text, {
      suggestion: 'Remove the secret from the configuration, and restore again.',
    })
  }
  if (secret !== null) return secret
  throw new AppError('CONFLICT', 'The backup is without its secret.', {
    suggestion:
      'Set PILLARBOX_SECRET, or secret in the configuration, to the secret of the server.',
  })
}

async function writeSecrets(
  folder: string,
  { secret, secretPrevious }: BackupSecrets,
): Promise<void> {
  await writeDurably(path.join(folder, 'secret'), [Buffer.from(`${secret}\n`)])
  if (secretPrevious === null) return
  await writeDurably(path.join(folder, 'secret_previous'), [Buffer.from(`${secretPrevious}\n`)])
}

function refuseNewer({ schema, version }: BackupManifest): void {
  if (schema <= knownSchema()) return
  const text = `The backup belongs to a newer version of this program (${version}, schema ${schema}; this one supports ${knownSchema()}). Restore it with version ${version}.`
  throw new AppError('DATABASE_ERROR', text, { suggestion: `Install version ${version}.` })
}

/**
 * Requires the space for the restore. The database may be on another disk than the rest; each disk
 * needs space for its part.
 */
async function requireSpace(
  { dataDir, databaseFile }: RestorePlace,
  { files }: BackupManifest,
): Promise<void> {
  const sizeOf = (isDatabase: boolean) =>
    files
      .filter(({ path: name }) => (name === ENTRY.database) === isDatabase)
      .reduce((sum, { bytes }) => sum + bytes, 0)
  const parts: [folder: string, bytes: number][] = [
    [path.dirname(databaseFile), sizeOf(true)],
    [dataDir, sizeOf(false)],
  ]
  const isOneDisk = path.dirname(databaseFile) === dataDir
  const needs = isOneDisk ? [[dataDir, sizeOf(true) + sizeOf(false)] as const] : parts
  for (const [folder, bytes] of needs) {
    const { free } = await readSpace(folder)
    if (free > bytes) continue
    const text = `The backup takes ${Math.ceil(bytes / MIB)} MB, and the disk of ${folder} has ${Math.floor(free / MIB)} MB free.`
    throw new AppError('INSUFFICIENT_STORAGE', text, { suggestion: 'Restore to another disk.' })
  }
}

async function writeDurably(
  file: string,
  chunks: AsyncIterable<Buffer> | Iterable<Buffer>,
): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 })
  const handle = await open(file, 'wx', 0o600)
  try {
    for await (const chunk of chunks) await handle.writeFile(chunk)
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** Makes the names in a folder durable, also those in all folders below. */
async function syncFolders(folder: string): Promise<void> {
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) await syncFolders(path.join(folder, entry.name))
  }
  await syncFolder(folder)
}

async function syncFile(file: string): Promise<void> {
  const handle = await open(file, 'r+')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

function ignoreMissing(error: unknown): void {
  if (!hasCode(error, 'ENOENT')) throw error
}
