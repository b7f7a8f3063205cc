/**
 * The record of backups in the database: the attempts that have ended, newest last, and the gauges
 * of the last attempt. A restored database has the record of the backups before its own.
 */
import { SECOND_MS } from '../../../base/clock.ts'
import { and, desc, eq, gt, isNotNull, isNull, lte, sql } from '../../../store/drizzle.ts'
import { type BackupRow, backups } from '../../../store/schema/backups.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Base } from '../../ground/base.ts'

export type BackupAttempt = Omit<BackupRow, 'number'>

type LastBackup = {
  /** The newest backup that succeeded and was verified. */
  verified: BackupAttempt | undefined
  /** The newest attempt, if it failed. */
  failed: BackupAttempt | undefined
}

/** The number of attempts that are kept. */
const KEPT_ATTEMPTS = 200

const columns = {
  origin: backups.origin,
  file: backups.file,
  startedAt: backups.startedAt,
  endedAt: backups.endedAt,
  error: backups.error,
  bytes: backups.bytes,
  databaseBytes: backups.databaseBytes,
}

const findVerified = statement((db) =>
  db
    .select({ ...columns, number: backups.number })
    .from(backups)
    .where(isNull(backups.error))
    .orderBy(desc(backups.number))
    .limit(1),
)

const findFailedSince = statement((db) =>
  db
    .select(columns)
    .from(backups)
    .where(and(isNotNull(backups.error), gt(backups.number, parameter('number'))))
    .orderBy(desc(backups.number))
    .limit(1),
)

const findNewestOf = statement((db) =>
  db
    .select(columns)
    .from(backups)
    .where(eq(backups.origin, parameter('origin')))
    .orderBy(desc(backups.number))
    .limit(1),
)

const insertAttempt = statement<{ number: number }>((db) =>
  db
    .insert(backups)
    .values({
      origin: parameter('origin'),
      file: parameter('file'),
      startedAt: parameter('startedAt'),
      endedAt: parameter('endedAt'),
      error: parameter('error'),
      bytes: parameter('bytes'),
      databaseBytes: parameter('databaseBytes'),
    })
    .returning({ number: backups.number }),
)

const deleteOld = statement((db) =>
  db
    .delete(backups)
    .where(
      and(
        lte(backups.number, parameter('before')),
        sql`${backups.number} is not (select max(number) from backups where error is null)`,
      ),
    ),
)

/**
 * Finds the last backup by a command or by the schedule, and whether an attempt has failed since.
 */
export async function findLastBackup({ store }: Pick<Base, 'store'>): Promise<LastBackup> {
  const found = await store.read.find(findVerified)
  const failed = await store.read.find(findFailedSince, { number: found?.number ?? 0 })
  if (found === undefined) return { verified: undefined, failed }
  const { number: _, ...verified } = found
  return { verified, failed }
}

/** Finds the newest attempt by a command or by the schedule, whether it succeeded or not. */
export function findLastAttempt(
  { store }: Pick<Base, 'store'>,
  origin: BackupRow['origin'],
): Promise<BackupAttempt | undefined> {
  return store.read.find(findNewestOf, { origin })
}

/** Records an attempt that has ended. The newest successful backup always stays in the record. */
export async function recordBackup(
  { store }: Pick<Base, 'store'>,
  attempt: BackupAttempt,
): Promise<void> {
  await store.write(async (tx) => {
    const made = await tx.find(insertAttempt, attempt)
    if (made !== undefined) await tx.execute(deleteOld, { before: made.number - KEPT_ATTEMPTS })
  })
}

/** The gauges of `/metrics` about the last verified backup; none before the first one. */
export function backupGauges({ store }: Pick<Base, 'store'>) {
  const read = (figureOf: (last: BackupAttempt) => number) => async () => {
    const { verified } = await findLastBackup({ store })
    return verified === undefined ? [] : [{ value: figureOf(verified) }]
  }
  return [
    {
      name: 'pillarbox_last_backup_timestamp_seconds',
      help: 'When the last backup that was verified began, in seconds since 1970',
      read: read(({ startedAt }) => startedAt / SECOND_MS),
    },
    {
      name: 'pillarbox_last_backup_bytes',
      help: 'Size of the last backup that was verified',
      read: read(({ bytes }) => bytes),
    },
    {
      name: 'pillarbox_last_backup_duration_seconds',
      help: 'How long the last backup that was verified took',
      read: read(({ startedAt, endedAt }) => Math.max(0, endedAt - startedAt) / SECOND_MS),
    },
  ]
}
