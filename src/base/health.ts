/**
 * The reasons for which `/health` reports `degraded`. Each part of the server sets its own reason under
 * a fixed cause and clears it when the problem is over. A reason has no other effect: the part itself
 * decides whether it keeps working or waits.
 */

/** The causes; each has at most one reason. */
type HealthCause =
  | 'dns'
  | 'disk'
  | 'certificate'
  | 'suppressions'
  | 'platform-mail'
  /** Checks of `features/operation/doctor` have failed. */
  | 'checks'
  | 'backup'
  | 'fence'
  /** Files of the database are gone: the status of `/health` is 503. */
  | 'database-files'

type HealthReason = { cause: HealthCause; reason: string }

export type Health = {
  /** Sets the reason of a cause, one sentence for operators; null clears it. */
  set(cause: HealthCause, reason: string | null): void
  /** All current reasons, the oldest first. */
  reasons(): HealthReason[]
}

export function createHealth(): Health {
  const reasons = new Map<HealthCause, string>()
  return {
    set(cause, reason) {
      if (reason === null) reasons.delete(cause)
      else reasons.set(cause, reason)
    },
    reasons: () => [...reasons].map(([cause, reason]) => ({ cause, reason })),
  }
}
