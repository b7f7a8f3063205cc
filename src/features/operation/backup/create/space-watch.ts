/** Ends a backup before it fills a disk that the server needs. */
import { AppError } from '../../../../base/errors.ts'
import { readSpace } from '../../../../store/files/disk.ts'
import { startLoop } from '../../../../work/loop.ts'

type SpaceWatch = {
  /** Aborts, with an AppError INSUFFICIENT_STORAGE, when a disk has too little free space. */
  signal: AbortSignal
  stop(): void
}

type Options = {
  folders: readonly string[]
  /** How many bytes must stay free; 0 means no limit. */
  minFreeBytes: number
  everyMs?: number
  /** For tests. */
  read?: typeof readSpace
}

const EVERY_MS = 200
const MIB = 1024 * 1024

/** @throws AppError INSUFFICIENT_STORAGE when there is too little space already */
export async function watchSpace({
  folders,
  minFreeBytes,
  everyMs = EVERY_MS,
  read = readSpace,
}: Options): Promise<SpaceWatch> {
  const abort = new AbortController()
  const check = async () => {
    for (const folder of folders) {
      const { free } = await read(folder)
      if (free < minFreeBytes) throw tooLittle(folder, free, minFreeBytes)
    }
  }
  await check()
  const loop = startLoop({
    run: check,
    onError: (error) => abort.abort(error),
    firstWaitMs: everyMs,
    maxWaitMs: everyMs,
  })
  return { signal: abort.signal, stop: () => void loop.stop() }
}

function tooLittle(folder: string, free: number, minFreeBytes: number): AppError {
  const text = `Given up, because only ${Math.floor(free / MIB)} MB of the disk of ${folder} are free, and backup.min_free_bytes is ${Math.floor(minFreeBytes / MIB)} MB.`
  return new AppError('INSUFFICIENT_STORAGE', text, {
    suggestion: 'Free space, or write to another disk.',
  })
}
