/**
 * Limits of one template. The length, the time, the units and the output are limits that authors of
 * templates may meet; the others keep each single step of the library short, because the library
 * checks the clock only between steps.
 */

/** Characters of a template's source. */
export const MAX_TEMPLATE_LENGTH = 2_000_000

/** Milliseconds of one rendering. */
const MAX_RENDER_MS = 1_000

/** Units of one rendering: characters and items processed; expensive steps cost more per item. */
const MAX_UNITS = 10_000_000

/** Characters printed by one rendering, including captured ones. */
export const MAX_OUTPUT_LENGTH = 10_000_000

/** Markers (`{{ … }}`, `{% … %}`) of a template: each takes a kilobyte or more once parsed. */
export const MAX_MARKERS = 20_000

/** Characters inside all markers: an expression is one step, however long it is. */
export const MAX_MARKUP_LENGTH = 200_000

/** Depth of nested lists and objects. */
export const MAX_DEPTH = 100

/** Product of both lengths in a search: quadratic in the worst case, and then 0.3 s. */
const MAX_SEARCH_COST = 1_000_000_000

/** Characters of a date and of a date format: each letter of a format may cost 50 us. */
export const MAX_DATE_LENGTH = 256

/** Limits of one rendering. `isQuick`: exceeding them throws `QuickLimitError`, for a slower retry. */
export type RenderLimits = {
  /** Elapsed time; if `isQuick`, CPU time of this thread. */
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

/** For all texts of a request together, which shares a thread with other requests. */
export const TEXT_LIMITS: RenderLimits = {
  ms: 500,
  units: 2_000_000,
  output: 1_100_000,
  search: MAX_SEARCH_COST,
  isQuick: true,
}

/** For threads on which others wait: a step takes a few milliseconds, all together take 25. */
export const QUICK_LIMITS: RenderLimits = {
  ms: 25,
  units: 250_000,
  output: 250_000,
  search: 20_000_000,
  isQuick: true,
}
