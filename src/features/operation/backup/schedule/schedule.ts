/**
 * Makes backups by itself, every `backup.every`, into `backup.dir`. The database knows the last attempt,
 * so a restart neither loses nor doubles one:
 *
 *   no attempt yet              due at once
 *   the last one succeeded      due `backup.every` after its start
 *   the last one failed         due 15 minutes after its end, or earlier if `backup.every` is shorter;
 *                               `/health` gives the reason until a backup succeeds
 *   a stop of the server ended  the attempt has no record, so a backup is due at once
 *   the last attempt
 *   the database cannot take    no backup is made until the database takes the record
 *   the record of an attempt
 *
 * Old backups are deleted after a new one was verified, never before.
 */
import { spawn } from 'node:child_process'
import { mkdir, readdir, rm } from 'node:fs/promises'
import path from 'node:path'
import sea from 'node:sea'
import { formatInstant, MINUTE_MS, SECOND_MS } from '../../../../base/clock.ts'
import { describeError } from '../../../../base/errors.ts'
import { assetSource } from '../../../../config/assets.ts'
import type { Config } from '../../../../config/config.ts'
import { startLoop } from '../../../../work/loop.ts'
import type { Base } from '../../../ground/base.ts'
import { type BackupAttempt, findLastAttempt, findLastBackup, recordBackup } from '../record.ts'

const SCHEDULED_NAME = /^pillarbox-\d{8}T\d{6}Z\.tar\.zst$/
const MAX_OUTPUT_BYTES = 256 * 1024

export type BackupRun = { bytes: number; databaseBytes: number } | { error: string }

/**
 * Makes a backup. The signal ends the process of the backup, whose temporary file the next backup
 * removes.
 */
type RunBackup = (file: string, signal: AbortSignal) => Promise<BackupRun>

type Deps = Pick<Base, 'store' | 'config' | 'health' | 'log' | 'now'>

type Backups = {
  /** Looks whether a backup is due, makes it, and resolves when it has ended. For tests. */
  poll(): Promise<void>
  stop(): Promise<void>
}

type Plan = { dir: string; everyMs: number; keep: number }

/** `ended`: the attempt that has ended and is not in the record yet. */
type ScheduleState = { ended: BackupAttempt | undefined }

const POLL_MS = 15 * SECOND_MS
const RETRY_MS = 15 * MINUTE_MS
const FOLDER_MODE = 0o700

/** Starts the loop that makes backups; does nothing unless `backup.every` is set. */
export function startBackups(
  deps: Deps,
  {
    run = createBackupRun(deps.config),
    pollMs = POLL_MS,
  }: { run?: RunBackup; pollMs?: number } = {},
): Backups {
  const { everyMs, dir, keep } = deps.config.backup
  if (everyMs === null || dir === null)
    return { poll: async () => undefined, stop: async () => undefined }
  const plan = { dir, everyMs, keep }
  const state: ScheduleState = { ended: undefined }
  const loop = startLoop({
    run: ({ signal }) => makeIfDue(deps, plan, { state, run, signal }),
    onError: (error) =>
      deps.log.error({ error: describeError(error) }, 'the schedule of backups failed'),
    maxWaitMs: pollMs,
    keepsAlive: false,
  })
  return { poll: loop.turn, stop: () => loop.stop() }
}

async function makeIfDue(
  deps: Deps,
  plan: Plan,
  { state, run, signal }: { state: ScheduleState; run: RunBackup; signal: AbortSignal },
): Promise<void> {
  const { log, now } = deps
  await conclude(deps, plan, state)
  const last = await findLastAttempt(deps, 'schedule')
  await showHealth(deps)
  const startedAt = now()
  if (signal.aborted || startedAt < dueAt(last, plan, startedAt)) return
  const file = path.join(plan.dir, nameOf(startedAt))
  await mkdir(plan.dir, { recursive: true, mode: FOLDER_MODE }).catch((error: unknown) =>
    log.warn({ error }, 'the folder of backups cannot be made'),
  )
  const result = await run(file, signal)
  // The stop of the server has ended the process of the backup. After the next start the backup is
  // due again.
  if (signal.aborted) return
  const figures =
    'error' in result
      ? { error: result.error, bytes: 0, databaseBytes: 0 }
      : { ...result, error: null }
  state.ended = { origin: 'schedule', file, startedAt, endedAt: now(), ...figures }
  await conclude(deps, plan, state)
  await showHealth(deps)
}

/** Records the attempt that has ended, and deletes old backups if it succeeded. */
async function conclude({ store, log }: Deps, plan: Plan, state: ScheduleState): Promise<void> {
  const { ended } = state
  if (ended === undefined) return
  await recordBackup({ store }, ended)
  state.ended = undefined
  const { file, bytes, error } = ended
  if (error !== null) {
    log.error({ file, reason: error }, 'the scheduled backup failed and will be tried again')
    return
  }
  log.info({ file, bytes }, 'a backup was made and verified')
  const deleted = await deleteOldest(plan.dir, { keep: plan.keep, newest: path.basename(file) })
  if (deleted.length > 0) log.info({ deleted }, 'old backups were deleted')
}

/**
 * Returns when the next backup is due: at most one interval from now, because the clock may have
 * been wrong at the last attempt.
 */
function dueAt(last: BackupAttempt | undefined, { everyMs }: Plan, now: number): number {
  if (last === undefined) return now
  const due =
    last.error === null ? last.startedAt + everyMs : last.endedAt + Math.min(RETRY_MS, everyMs)
  return due > now + everyMs ? now : due
}

/** Shows the reason of a failure in `/health`. A backup by a command removes the reason, too. */
async function showHealth(deps: Deps): Promise<void> {
  const { failed } = await findLastBackup(deps)
  const reason =
    failed === undefined || failed.origin !== 'schedule'
      ? null
      : `The last scheduled backup failed and is tried again: ${failed.error}`
  deps.health.set('backup', reason)
}

/**
 * Makes a backup in a process of its own, this program with the command `backup`, so that the copy
 * has its own locks and its work has a low priority.
 */
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

/** Returns the last line as an object; an empty object for anything else. */
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
function nameOf(at: number): string {
  const [seconds = ''] = formatInstant(at).split('.')
  return `pillarbox-${seconds.replaceAll(/[-:]/g, '')}Z.tar.zst`
}

/**
 * Deletes the oldest scheduled backups beyond `keep` from `backup.dir`, and never a file with
 * another name. `newest` is the name of the backup that was just made; backups with later names
 * were made while the clock was ahead, and count as the oldest. Returns the deleted names.
 */
async function deleteOldest(
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
