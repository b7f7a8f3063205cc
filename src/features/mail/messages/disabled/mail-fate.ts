/**
 * What becomes of the mail of a project that waits to be sent:
 *
 *   sent    the project is enabled
 *   held    it was disabled for its reputation less than 72 hours ago
 *   over    it was disabled for its reputation and not enabled in time: its mail fails, except that of
 *           campaigns, which stays with them until they are resumed or cancelled
 *   failed  it was disabled for another reason, is being reset, or was deleted: all its mail fails
 */
import { HOUR_MS } from '../../../../base/clock.ts'
import type { Project } from '../../../../store/schema/accounts.ts'

export type MailFate = 'sent' | 'held' | 'over' | 'failed'

/** The columns of a project that decide. */
export type Standing = Pick<
  Project,
  'isDisabled' | 'disabledReason' | 'disabledAt' | 'resetSince' | 'deletedAt'
>

/** The errors of emails whose project may not send. */
export const DISABLED = 'the project is disabled'
export const NOT_ENABLED_IN_TIME = 'the project was disabled and not enabled within 72 hours'

export const HOLD_HOURS = 72

/** `at`: epoch ms. */
export function fateOf(project: Standing, at: number): MailFate {
  const { isDisabled, disabledReason, resetSince, deletedAt } = project
  if (!isDisabled) return 'sent'
  if (disabledReason !== 'EMAIL_REPUTATION' || resetSince !== null || deletedAt !== null) {
    return 'failed'
  }
  return at < holdEndOf(project) ? 'held' : 'over'
}

/** When the mail of a project that was disabled for its reputation fails (epoch ms). */
export function holdEndOf({ disabledAt }: Pick<Standing, 'disabledAt'>): number {
  return (disabledAt ?? 0) + HOLD_HOURS * HOUR_MS
}
