/** The figures of the disk that holds a folder. */
import { statfs } from 'node:fs/promises'

/** In bytes and in numbers; `free` is what the server's user may take. */
export type DiskFigures = {
  bytes: { free: number; total: number }
  /** A total of 0: the file system has no fixed number. */
  inodes: { free: number; total: number }
}

export async function readDisk(folder: string): Promise<DiskFigures> {
  const { bavail, blocks, bsize, ffree, files } = await statfs(folder)
  return {
    bytes: { free: bavail * bsize, total: blocks * bsize },
    inodes: { free: ffree, total: files },
  }
}
