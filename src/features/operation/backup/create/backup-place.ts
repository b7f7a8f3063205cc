/**
 * The file that a backup is written to. It has a temporary name until it is complete, durable and
 * verified; then it gets its name, unless another file has it.
 */
import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { type FileHandle, link, open, rename, rm, stat } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { AppError, hasCode } from '../../../../base/errors.ts'
import { syncFolder } from '../../../../config/sync-folder.ts'

type BackupPlace = {
  /** The temporary name of the file. */
  partial: string
  write(chunks: AsyncIterable<Buffer>): Promise<void>
  /** Gives the file its final name. @throws AppError CONFLICT */
  publish(): Promise<void>
  discard(): Promise<void>
}

/**
 * After this many bytes the file is made durable, so that the disk never has to write all of it at
 * once.
 */
const SYNC_BYTES = 16 * 1024 * 1024

/**
 * Call this with the lock of the database's backups: the temporary file of an earlier backup that was
 * killed is replaced.
 * @throws AppError CONFLICT when the file exists
 */
export async function openBackupPlace(file: string, databaseFile: string): Promise<BackupPlace> {
  await refuseExisting(file)
  const folder = path.dirname(file)
  const partial = path.join(folder, partialName(databaseFile))
  await rm(partial, { force: true })
  const handle = await open(partial, 'wx', 0o600)
  const discard = async () => {
    await handle.close().catch(() => undefined)
    await rm(partial, { force: true })
  }
  return {
    partial,
    write: (chunks) => writeAll(handle, chunks),
    async publish() {
      await nameFile(partial, file)
      await syncFolder(folder)
    },
    discard,
  }
}

/** @throws AppError BAD_REQUEST when the folder of the file does not exist */
export function requireFolderOf(file: string): void {
  const folder = path.dirname(file)
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true) return
  throw new AppError('BAD_REQUEST', `The folder ${folder} does not exist.`)
}

/**
 * The temporary name is the same for all backups of a database on a machine, so that the next
 * backup finds what a killed one left.
 */
function partialName(databaseFile: string): string {
  const id = createHash('sha256').update(`${os.hostname()}\0${databaseFile}`).digest('hex')
  return `.pillarbox-backup-${id.slice(0, 12)}.partial`
}

async function writeAll(handle: FileHandle, chunks: AsyncIterable<Buffer>): Promise<void> {
  let unsynced = 0
  for await (const chunk of chunks) {
    await handle.writeFile(chunk)
    unsynced += chunk.length
    if (unsynced < SYNC_BYTES) continue
    await handle.datasync()
    unsynced = 0
  }
  await handle.sync()
  await handle.close()
}

/**
 * Gives the file its name by `link`, which never replaces a file. Some file systems of network and
 * USB disks have no `link`.
 */
async function nameFile(partial: string, file: string): Promise<void> {
  try {
    await link(partial, file)
  } catch (error) {
    if (hasCode(error, 'EEXIST')) throw exists(file)
    const isUnsupported = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS'].some((code) =>
      hasCode(error, code),
    )
    if (!isUnsupported) throw error
    await refuseExisting(file)
    await rename(partial, file)
    return
  }
  await rm(partial)
}

async function refuseExisting(file: string): Promise<void> {
  const found = await stat(file).catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (found !== undefined) throw exists(file)
}

function exists(file: string): AppError {
  return new AppError('CONFLICT', `${file} already exists and was not changed.`, {
    suggestion: 'Choose another name, or remove the file.',
  })
}
