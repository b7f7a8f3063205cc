/**
 * Pages of lists: the schemas of pages, and the query parameters that lists share. A list has pages
 * by cursor (`page`), by number (`numberedPage`) or both (`sortedPage`).
 */
import { z } from 'zod'
import { DAY_MS, parseInstant } from '../base/clock.ts'
import { DEFAULT_PAGE_SIZE, MAX_CURSOR_LENGTH, MAX_PAGE_NUMBER, MAX_PAGE_SIZE } from './limits.ts'

/**
 * An integer of at least 1. A value above `cap` counts as `cap`, and an absent value as `fallback`.
 */
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

/** The fields by which a client reads the next page. */
const cursorEnd = {
  cursor: z.string().nullable().meta({ description: 'Null on the last page' }),
  hasMore: z
    .boolean()
    .meta({ description: 'Also true when the page ended early: a page has at most 2 MB of JSON' }),
}

/** The fields after the items, on a page of a list with cursors. */
export const pageEnd = {
  total: z.int().meta({ description: 'Of all pages, on the first one; 0 when a cursor was given' }),
  ...cursorEnd,
}

/** The fields that say which numbered page this is, and how many there are. */
export const pageNumbers = { page: z.int(), pageSize: z.int(), totalPages: z.int() }

/** A page of a list with cursors. `name`: the name of the field with the items. */
export function page<Item extends z.ZodType, Name extends string = 'data'>(
  item: Item,
  name = 'data' as Name,
) {
  return z.object({ ...listField(name, item), ...pageEnd })
}

/** A page of a list that has only numbered pages. */
export function numberedPage<Item extends z.ZodType, Name extends string = 'data'>(
  item: Item,
  name = 'data' as Name,
) {
  return z.object({ ...listField(name, item), total: z.int(), ...pageNumbers })
}

/** A page of a list that has both numbered pages and cursors. */
export function sortedPage<Item extends z.ZodType>(item: Item) {
  return z.object({ data: z.array(item), total: z.int(), ...pageNumbers, ...cursorEnd })
}

function listField<Item extends z.ZodType, Name extends string>(name: Name, item: Item) {
  return { [name]: z.array(item) } as Record<Name, z.ZodArray<Item>>
}

/** The query parameters of a list with cursors. */
export const pageParameters = {
  limit: countParameter({ fallback: DEFAULT_PAGE_SIZE, cap: MAX_PAGE_SIZE }),
  cursor: cursorParameter,
}

/** The query parameters of a list that has both numbered pages and cursors. */
export const pagingParameters = {
  page: countParameter({ fallback: undefined, cap: MAX_PAGE_NUMBER }).meta({
    description: 'A page by number, in place of a cursor; 1 by default',
  }),
  pageSize: countParameter({ fallback: undefined, cap: MAX_PAGE_SIZE }).meta({
    default: DEFAULT_PAGE_SIZE,
  }),
  limit: countParameter({ fallback: undefined, cap: MAX_PAGE_SIZE }).meta({
    description: 'The same as pageSize, for pages by cursor',
  }),
  cursor: cursorParameter,
}

export const PAGING_TEXT =
  'Pages by `page` and `pageSize`, or by `limit` and `cursor`. A page by number is always complete; by ' +
  'cursor a page has at most 2 MB of JSON. `total` is the number on every page.'

type Paging = {
  page: number | undefined
  pageSize: number | undefined
  limit: number | undefined
  cursor?: string | undefined
}

/** Refuses `cursor` together with `page`, and a `limit` that differs from `pageSize`. */
export function refuseMixedPaging(
  { page, pageSize, limit, cursor }: Paging,
  context: z.core.$RefinementCtx,
): void {
  const refuse = (field: string, message: string) =>
    context.addIssue({ code: 'custom', path: [field], message, input: undefined })
  if (cursor !== undefined && page !== undefined) refuse('cursor', 'Give either cursor or page')
  if (limit !== undefined && pageSize !== undefined && limit !== pageSize) {
    refuse('limit', 'Differs from pageSize, which means the same')
  }
}

/**
 * Returns the page that the query asks for. `isNumbered`: a page by number, which always has all of
 * its items.
 */
export function pagingOf({ page, pageSize, limit, cursor }: Paging) {
  const isNumbered =
    page !== undefined || pageSize !== undefined || (limit === undefined && cursor === undefined)
  const size = pageSize ?? limit ?? DEFAULT_PAGE_SIZE
  return { isNumbered, page: page ?? 1, pageSize: size, cursor }
}

/** The fields that follow the list on a numbered page. */
export function numbersOf({ total, page, pageSize }: PageNumbers) {
  return { total, page, pageSize, totalPages: Math.ceil(total / pageSize) }
}

type PageNumbers = { total: number; page: number; pageSize: number }

/** A parameter that is one of `choices`; any other value counts as `fallback`. */
export function choiceParameter<const Choice extends string>(
  choices: readonly Choice[],
  fallback: Choice,
) {
  return z
    .enum(choices)
    .catch(fallback)
    .meta({ type: 'string', enum: [...choices], default: fallback })
}

/**
 * Parses a date or an instant to epoch milliseconds. A bare date counts as its first or last
 * millisecond in UTC.
 */
export function instantParameter(bareDate: 'first' | 'last') {
  return z
    .string()
    .transform((text, context) => {
      const instant = parseInstant(text)
      if (instant !== undefined) {
        return instant.isDay && bareDate === 'last' ? instant.at + DAY_MS - 1 : instant.at
      }
      const message = 'Expected a date or an instant in ISO 8601 or RFC 1123'
      context.addIssue({ code: 'custom', message, params: { code: 'invalid_date' } })
      return z.NEVER
    })
    .optional()
    .meta({ type: 'string', format: 'date-time' })
}
