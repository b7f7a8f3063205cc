/**
 * Why the server is not quite well. Each part reports its own trouble under a fixed name and takes
 * the report back when the trouble is over; `/health` answers `degraded` while any report stands.
 * A report changes nothing by itself: mail goes on, or waits, as the reporting part decides.
 */

/** What can be wrong; one report each. */
export type HealthCause =
  | 'dns'
  | 'disk'
  | 'certificate'
  | 'suppressions'
  /** The files of the database were taken away: `/health` answers 503. */
  | 'database-files'

export type HealthReason = { cause: HealthCause; reason: string }

export type Health = {
  /** `reason`: one sentence for operators; null takes the report back. */
  report(cause: HealthCause, reason: string | null): void
  /** In the order in which the trouble began. */
  reasons(): HealthReason[]
}

export function createHealth(): Health {
  const reasons = new Map<HealthCause, string>()
  return {
    report(cause, reason) {
      if (reason === null) reasons.delete(cause)
      else reasons.set(cause, reason)
    },
    reasons: () => [...reasons].map(([cause, reason]) => ({ cause, reason })),
  }
}
