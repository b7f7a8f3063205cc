/** The gauges of `/metrics` about the last run of the checks; none before the first. */
import { SECOND_MS } from '../../../base/clock.ts'
import type { Doctor } from './doctor.ts'
import type { CheckStatus } from './outcome.ts'

const VALUES: Partial<Record<CheckStatus, number>> = { ok: 0, warning: 1, failed: 2 }

/** A check that was skipped has no value: it says nothing. */
export function checkGauges({ doctor }: { doctor: Pick<Doctor, 'last'> }) {
  return [
    {
      name: 'pillarbox_check_status',
      help: 'Result of each check of the last run: 0 ok, 1 warning, 2 failed',
      labelNames: ['check'],
      read: () =>
        (doctor.last()?.checks ?? []).flatMap(({ id, status }) => {
          const value = VALUES[status]
          return value === undefined ? [] : [{ value, labels: { check: id } }]
        }),
    },
    {
      name: 'pillarbox_checks_timestamp_seconds',
      help: 'Time of the last run of the checks, in seconds since 1970',
      read: () => {
        const run = doctor.last()
        return run === undefined ? [] : [{ value: run.finishedAt / SECOND_MS }]
      },
    },
  ]
}
