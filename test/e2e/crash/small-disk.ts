/** A small file system of its own, which a test can fill. Needs root. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'

export const isRoot = process.getuid?.() === 0

/** Returns the folder of a file system of its own; undefined if none may be mounted. */
export async function mountDisk(
  t: Pick<TestContext, 'after'>,
  size: string,
): Promise<string | undefined> {
  const folder = await mkdtemp(path.join(tmpdir(), 'pillarbox-disk-'))
  const isMounted = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', folder])
  t.after(async () => {
    // Lazily: the server may still have files open there.
    spawnSync('umount', ['-l', folder])
    await rm(folder, { recursive: true })
  })
  return isMounted.status === 0 ? folder : undefined
}

/** Writes a file until there is no space left. */
export async function fillDisk(file: string): Promise<void> {
  const handle = await open(file, 'w')
  try {
    for (const bytes of [1_048_576, 4_096]) {
      const block = Buffer.alloc(bytes)
      await assert.rejects(
        async () => {
          for (;;) await handle.write(block)
        },
        { code: 'ENOSPC' },
      )
    }
  } finally {
    await handle.close()
  }
}
