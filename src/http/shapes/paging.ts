/** Query parameters of lists, the same everywhere: a limit above the cap is the cap (section 0). */
import { z } from 'zod'
import { DAY_MS, parseInstant } from '../../clock.ts'

/** A whole number of at least 1; above `cap` it is `cap`, left out it is `fallback`. */
export function countParameter<Fallback extends number | undefined>({
  fallback,
  cap,
}: {
  fallback: Fallback
  cap: number
}) {
  return z
    .string()
    .optional()
    .transform((text, context): number | Fallback => {
      if (text === undefined) return fallback
      const value = Number(text)
      if (/^-?\d+$/.test(text) && value < 1) {
        context.addIssue({
          code: 'too_small',
          origin: 'number',
          minimum: 1,
          inclusive: true,
          message: 'Must be at least 1',
        })
        return z.NEVER
      }
      if (/^\d+$/.test(text)) return Math.min(value, cap)
      context.addIssue({ code: 'invalid_type', expected: 'int', message: 'Expected an integer' })
      return z.NEVER
    })
    .meta({
      type: 'integer',
      minimum: 1,
      maximum: cap,
      ...(fallback === undefined ? {} : { default: fallback }),
    })
}

export const cursorParameter = z
  .string()
  .min(1)
  .max(500)
  .optional()
  .meta({ description: 'Where the page before ended, as that page says' })

/** One of a few words; anything else is `fallback`. */
export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
) {
  return z
    .enum(choices)
    .catch(fallback)
    .meta({ type: 'string', enum: [...choices], default: fallback })
}

/** As epoch milliseconds; a bare date is its first millisecond in UTC, or its last. */
export function instantParameter(bareDate: 'first' | 'last') {
  return z
    .string()
    .transform((text, context) => {
      const instant = parseInstant(text)
      if (instant !== undefined) {
        return instant.isDay && bareDate === 'last' ? instant.at + DAY_MS - 1 : instant.at
      }
      const message = 'Expected an ISO 8601 date or instant'
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_date' } })
      return z.NEVER
    })
    .optional()
    .meta({ type: 'string', format: 'date-time' })
}
