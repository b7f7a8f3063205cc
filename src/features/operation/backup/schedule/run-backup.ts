/**
 * Makes a scheduled backup in a process of its own, this program with the command `backup`, so
 * that the copy has its own locks and its work has a low priority; and deletes the oldest backups.
 */
import { spawn } from 'node:child_process'
import { readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import sea from 'node:sea'
import { formatInstant } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { assetSource } from '../../../../config/assets.ts'
import type { Config } from '../../../../config/config.ts'

const SCHEDULED_NAME = /^pillarbox-\d{8}T\d{6}Z\.tar\.zst$/

export type BackupRun = { bytes: number; databaseBytes: number } | { error: string }

/** The signal ends the process, which leaves its temporary file to the next backup. */
export type RunBackup = (file: string, signal: AbortSignal) => Promise<BackupRun>

const MAX_OUTPUT_BYTES = 256 * 1024

export function createBackupRun({ file: config }: Pick<Config, 'file'>): RunBackup {
  const program = sea.isSea() ? [] : [assetSource('src/main.ts')]
  const option = config === null ? [] : ['--config', config]
  return (file, signal) =>
    new Promise((resolve) => {
      const args = [...program, ...option, '--json', 'backup', '--scheduled', file]
      const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'], signal })
      const output = { stdout: '', stderr: '' }
      for (const name of ['stdout', 'stderr'] as const) {
        child[name].setEncoding('utf8').on('data', (text: string) => {
          output[name] = `${output[name]}${text}`.slice(0, MAX_OUTPUT_BYTES)
        })
      }
      child.on('error', (error) => resolve({ error: describeError(error) }))
      child.on('close', (status, killedBy) => {
        resolve(
          status === 0 ? readReport(output.stdout) : readFailure(output.stderr, status ?? killedBy),
        )
      })
    })
}

function readReport(text: string): BackupRun {
  const { bytes, databaseBytes } = parse(text)
  if (typeof bytes === 'number' && typeof databaseBytes === 'number')
    return { bytes, databaseBytes }
  return { error: 'The process of the backup gave no report.' }
}

function readFailure(text: string, status: number | string | null): BackupRun {
  const { error } = parse(text)
  const isCoded = typeof error === 'object' && error !== null && 'message' in error
  if (isCoded) return { error: String(error.message) }
  return { error: `The process of the backup ended early (${status}).` }
}

/** The last line as an object; an empty one for anything else. */
function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text.trim().split('\n').at(-1) ?? '')
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch (error) {
    if (error instanceof SyntaxError) return {}
    throw error
  }
}

/**
 * The name of a scheduled backup: `pillarbox-20261126T150000Z.tar.zst`. `at`: epoch milliseconds.
 */
export function nameOf(at: number): string {
  const [seconds = ''] = formatInstant(at).split('.')
  return `pillarbox-${seconds.replaceAll(/[-:]/g, '')}Z.tar.zst`
}

/**
 * Deletes the oldest scheduled backups beyond `keep` from `backup.dir`, and never a file with
 * another name. `newest` is the name of the backup that was just made; backups with later names
 * were made while the clock was ahead, and count as the oldest. Returns the deleted names.
 */
export async function deleteOldest(
  folder: string,
  { keep, newest }: { keep: number; newest: string },
): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && SCHEDULED_NAME.test(entry.name))
  const names = files.map(({ name }) => name).sort()
  const isAhead = (name: string) => name > newest
  const byAge = [...names.filter(isAhead), ...names.filter((name) => !isAhead(name))]
  const oldest = byAge.slice(0, -keep)
  for (const name of oldest) await rm(path.join(folder, name), { force: true })
  return oldest
}
