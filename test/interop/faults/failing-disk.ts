/** A disk that fails when the test says so: builds failing-disk.c and reads what it noted. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestContext } from 'node:test'

/** As failing-disk.c has them. */
type DiskMode = 'ok' | `write ${number}` | `sync ${number}` | `slow ${number}`

type DiskCall =
  | { kind: 'write'; offset: number; length: number }
  | { kind: 'sync'; isDone: boolean }

export type FailingDisk = {
  /** For the process whose disk it is. */
  env: Record<string, string>
  set(mode: DiskMode): void
  /** The calls about the log of the database, in order. */
  calls(): DiskCall[]
}

export const EIO = 5
export const EROFS = 30

const SOURCE = path.join(import.meta.dirname, 'failing-disk.c')

export const isCompilerMissing = spawnSync('cc', ['--version']).status !== 0

/** @throws Error if it cannot be built */
export function buildFailingDisk(t: Pick<TestContext, 'after'>): FailingDisk {
  const folder = mkdtempSync(path.join(tmpdir(), 'pillarbox-failing-disk-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const library = path.join(folder, 'failing-disk.so')
  const built = spawnSync('cc', ['-shared', '-fPIC', '-O1', '-o', library, SOURCE, '-ldl'])
  if (built.status !== 0) throw new Error(String(built.stderr))
  const mode = path.join(folder, 'mode')
  const calls = path.join(folder, 'calls')
  writeFileSync(calls, '')

  function set(text: DiskMode): void {
    // Renamed, so that no call reads half a line.
    writeFileSync(`${mode}.new`, text)
    renameSync(`${mode}.new`, mode)
  }

  set('ok')
  return {
    env: { LD_PRELOAD: library, FAILING_DISK_MODE: mode, FAILING_DISK_CALLS: calls },
    set,
    calls: () => readFileSync(calls, 'utf8').trimEnd().split('\n').map(readCall),
  }
}

function readCall(line: string): DiskCall {
  const [kind, first, length] = line.split(' ')
  if (kind === 's') return { kind: 'sync', isDone: first === 'ok' }
  return { kind: 'write', offset: Number(first), length: Number(length) }
}
