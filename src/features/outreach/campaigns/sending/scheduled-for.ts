/** The time for which a campaign is scheduled, as a request gives it. */
import { DAY_MS, parseInstant } from '../../../../base/clock.ts'
import { AppError, invalidField } from '../../../../base/errors.ts'

const MAX_AHEAD_MS = 366 * DAY_MS

/**
 * Returns epoch ms. A time without an offset is UTC.
 * @throws AppError VALIDATION_ERROR for a text that is no time, or a time more than 366 days ahead;
 *   BAD_REQUEST for a time that is not in the future
 */
export function readScheduledFor(text: string, now: number): number {
  const instant = parseInstant(text.trim())
  if (instant === undefined) {
    const expected =
      'Must be a date or a time in ISO 8601 or RFC 1123, such as 2026-12-24T09:00:00Z'
    throw invalidField('scheduledFor', 'invalid_date', expected)
  }
  if (instant.at - now > MAX_AHEAD_MS) {
    throw invalidField('scheduledFor', 'too_big', 'Must be at most 366 days ahead')
  }
  if (instant.at <= now) {
    throw new AppError('BAD_REQUEST', 'scheduledFor must be in the future.', {
      suggestion: 'Leave scheduledFor out to send the campaign now.',
    })
  }
  return instant.at
}
