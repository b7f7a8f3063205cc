/** The gauges of `/metrics` about the last backup that was verified; none before the first. */
import { SECOND_MS } from '../../../base/clock.ts'
import type { Base } from '../../ground/base.ts'
import { type BackupAttempt, findLastBackup } from './record.ts'

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
