/**
 * What one template may cost. The first four are the contract's or ours for whoever writes
 * templates; the others keep a single step of the library short, since the clock is only looked
 * at between steps.
 */

/** Characters of a template's source. */
export const MAX_TEMPLATE_LENGTH = 2_000_000

/** Milliseconds of one rendering. */
const MAX_RENDER_MS = 1_000

/** Units of one rendering: characters and items handled, and the dear steps by their price. */
export const MAX_UNITS = 10_000_000

/** Characters printed by one rendering, captured ones included. */
export const MAX_OUTPUT_LENGTH = 10_000_000

/** Markers (`{{ … }}`, `{% … %}`) of a template, and characters inside them: once parsed a marker
 * takes a kilobyte and more, and an expression is one step however long it is. */
export const MAX_MARKERS = 20_000
export const MAX_MARKUP_LENGTH = 200_000

/** Lists in lists in lists. */
export const MAX_DEPTH = 100

/** Haystack times needle: a string search is quadratic at worst, and this much takes 0.3 s. */
export const MAX_SEARCH_COST = 1_000_000_000

/** Characters of a date, and of a date format: each letter of it may cost 50 us. */
export const MAX_DATE_LENGTH = 256

/** What one rendering may take. `isQuick`: more is left to whoever has the time for it (`QuickLimitError`). */
export type RenderLimits = {
  /** Of the clock; of the thread's own computing time where `isQuick`. */
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

/** Where others wait: no step takes more than some milliseconds, and all of them together 25. */
export const QUICK_LIMITS: RenderLimits = {
  ms: 25,
  units: 250_000,
  output: 250_000,
  search: 20_000_000,
  isQuick: true,
}
