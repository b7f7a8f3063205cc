/**
 * Makes backups by itself, every `backup.every`, into `backup.dir`. The database knows the last attempt,
 * so a restart neither loses nor doubles one:
 *
 *   no attempt yet              due at once
 *   the last one succeeded      due `backup.every` after its start
 *   the last one failed         due 15 minutes after its end, or earlier if `backup.every` is shorter;
 *                               until one succeeds, `/health` gives the reason
 *   the server was stopped in   the attempt has no record: due at once
 *   the middle of one
 *
 * Old backups are deleted after a new one was verified, never before.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { MINUTE_MS, SECOND_MS } from '../../../clock.ts'
import { describeError } from '../../../errors.ts'
import type { Base } from '../../base.ts'
import { type BackupAttempt, findLastAttempt, findLastBackup, recordBackup } from '../record.ts'
import { deleteOldest, nameOf } from './files.ts'
import { createBackupRun, type RunBackup } from './run-backup.ts'

type Deps = Pick<Base, 'store' | 'config' | 'health' | 'log' | 'now'>

type Backups = {
  /** Looks whether a backup is due, makes it, and resolves when it has ended. For tests. */
  poll(): Promise<void>
  stop(): Promise<void>
}

type Plan = { dir: string; everyMs: number; keep: number }

const POLL_MS = 15 * SECOND_MS
const RETRY_MS = 15 * MINUTE_MS
const FOLDER_MODE = 0o700

/** Does nothing unless `backup.every` is set. */
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
  const abort = new AbortController()
  let running: Promise<void> | undefined

  function poll(): Promise<void> {
    running ??= makeIfDue(deps, plan, (file) => run(file, abort.signal), abort.signal)
      .catch((error: unknown) => {
        deps.log.error({ error: describeError(error) }, 'the schedule of backups failed')
      })
      .finally(() => {
        running = undefined
      })
    return running
  }

  const timer = setInterval(poll, pollMs).unref()
  void poll()
  return {
    poll,
    async stop() {
      clearInterval(timer)
      abort.abort()
      await running
    },
  }
}

async function makeIfDue(
  deps: Deps,
  plan: Plan,
  run: (file: string) => ReturnType<RunBackup>,
  signal: AbortSignal,
): Promise<void> {
  const { store, log, now } = deps
  const last = await findLastAttempt(deps, 'schedule')
  await showHealth(deps)
  const startedAt = now()
  if (signal.aborted || startedAt < dueAt(last, plan, startedAt)) return
  const file = path.join(plan.dir, nameOf(startedAt))
  await mkdir(plan.dir, { recursive: true, mode: FOLDER_MODE }).catch((error: unknown) =>
    log.warn({ error }, 'the folder of backups cannot be made'),
  )
  const result = await run(file)
  // A stop ends the process of the backup: after the next start it is due again.
  if (signal.aborted) return
  const attempt = { origin: 'schedule', file, startedAt, endedAt: now() } as const
  if ('error' in result) {
    const { error } = result
    await recordBackup({ store }, { ...attempt, error, bytes: 0, databaseBytes: 0 })
    log.error({ file, reason: error }, 'the scheduled backup failed and will be tried again')
  } else {
    await recordBackup({ store }, { ...attempt, ...result, error: null })
    log.info({ file, bytes: result.bytes }, 'a backup was made and verified')
    const deleted = await deleteOldest(plan.dir, { keep: plan.keep, newest: path.basename(file) })
    if (deleted.length > 0) log.info({ deleted }, 'old backups were deleted')
  }
  await showHealth(deps)
}

/** Never later than one interval from now: the clock may have been wrong at the last attempt. */
function dueAt(last: BackupAttempt | undefined, { everyMs }: Plan, now: number): number {
  if (last === undefined) return now
  const due =
    last.error === null ? last.startedAt + everyMs : last.endedAt + Math.min(RETRY_MS, everyMs)
  return due > now + everyMs ? now : due
}

/** A backup by a command ends the reason, too. */
async function showHealth(deps: Deps): Promise<void> {
  const { failed } = await findLastBackup(deps)
  const reason =
    failed === undefined || failed.origin !== 'schedule'
      ? null
      : `The last scheduled backup failed and is tried again: ${failed.error}`
  deps.health.set('backup', reason)
}
