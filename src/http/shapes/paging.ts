/** Query parameters that all lists share. */
import { z } from 'zod'
import { DAY_MS, parseInstant } from '../../clock.ts'
import { MAX_CURSOR_LENGTH } from '../../features/limits.ts'

/** An integer of at least 1; values above `cap` count as `cap`, an absent one as `fallback`. */
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
  .max(MAX_CURSOR_LENGTH)
  .optional()
  .meta({ description: '`cursor` of the previous page' })

/** The end of a page of a list with cursors. */
export const pageEnd = {
  cursor: z.string().nullable().meta({ description: 'Null on the last page' }),
  hasMore: z
    .boolean()
    .meta({ description: 'Also true when the page ended early: a page has at most 2 MB of JSON' }),
}

/** The fields of a page by number, after its list. */
export function numbersOf({ total, page, pageSize }: PageNumbers) {
  return { total, page, pageSize, totalPages: Math.ceil(total / pageSize) }
}

type PageNumbers = { total: number; page: number; pageSize: number }

/** One of `choices`; any other value counts as `fallback`. */
export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
) {
  return z
    .enum(choices)
    .catch(fallback)
    .meta({ type: 'string', enum: [...choices], default: fallback })
}

/** Epoch milliseconds. A bare date counts as its first or last millisecond in UTC. */
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
