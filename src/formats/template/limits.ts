/**
 * Limits of one template. Authors of templates may meet the limits on length, time, units and
 * output. The other limits keep each single step of the library short, because the library checks
 * the clock only between steps.
 */

/** Characters of a template's source. */
export const MAX_TEMPLATE_LENGTH = 2_000_000

/** Milliseconds of one rendering. */
const MAX_RENDER_MS = 1_000

/**
 * Units of one rendering. Each processed character or item costs at least one unit; expensive steps
 * cost more.
 */
const MAX_UNITS = 10_000_000

/** Characters printed by one rendering, including captured ones. */
export const MAX_OUTPUT_LENGTH = 10_000_000

/** Markers (`{{ … }}`, `{% … %}`) of a template: each takes a kilobyte or more once parsed. */
export const MAX_MARKERS = 20_000

/**
 * Characters inside all markers together: the library evaluates an expression in one step, however
 * long it is.
 */
export const MAX_MARKUP_LENGTH = 200_000

/** Levels of nested lists and objects. */
export const MAX_DEPTH = 100

/**
 * The product of the lengths of text and pattern in a search, which takes this many steps (0.3 s)
 * in the worst case.
 */
const MAX_SEARCH_COST = 1_000_000_000

/** Characters of a date, and of a date format, of which each letter may cost 50 us. */
export const MAX_DATE_LENGTH = 256

/**
 * Limits of one rendering. `isQuick`: a rendering that exceeds them throws `QuickLimitError`, and
 * is repeated on a slower way.
 */
export type RenderLimits = {
  /** Milliseconds: elapsed time, or CPU time of this thread if `isQuick`. */
  ms: number
  units: number
  output: number
  search: number
  isQuick: boolean
}

export const FULL_LIMITS: RenderLimits = {
  ms: MAX_RENDER_MS,
  units: MAX_UNITS,
  output: MAX_OUTPUT_LENGTH,
  search: MAX_SEARCH_COST,
  isQuick: false,
}

/** Limits for all texts of one request together, on a thread that other requests share. */
export const TEXT_LIMITS: RenderLimits = {
  ms: 500,
  units: 2_000_000,
  output: 1_100_000,
  search: MAX_SEARCH_COST,
  isQuick: true,
}

/**
 * Limits for threads on which other work waits: a step takes a few milliseconds, a rendering at
 * most 25.
 */
export const QUICK_LIMITS: RenderLimits = {
  ms: 25,
  units: 250_000,
  output: 250_000,
  search: 20_000_000,
  isQuick: true,
}
