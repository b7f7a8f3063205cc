/** Which rows of a long list are in the document. All rows have one height. */

export type View = {
  /** Rows that are loaded. */
  count: number
  /** Pixels, above 0. */
  rowHeight: number
  /** Pixels of rows above the upper edge of the viewport; negative while the list begins below it. */
  above: number
  /** The height of the viewport in pixels. */
  height: number
}

/** Rows `from` to `to`, without `to`. */
export type Span = { from: number; to: number }

/** The window moves in steps, so that most pixels of scrolling change nothing. */
const STEP = 5
/** Rows beyond the viewport, on each side. */
const SPARE = 15
const MAX_ROWS = 80
const EDGE_PX = 1_500

/** At most 80 rows: those in the viewport and some on both sides. */
export function windowOf({ count, rowHeight, above, height }: View): Span {
  const first = Math.floor(Math.max(0, above) / rowHeight)
  const shown = Math.ceil(height / rowHeight)
  const size = Math.min(MAX_ROWS, Math.ceil(shown / STEP) * STEP + STEP + 2 * SPARE)
  const wanted = Math.floor(first / STEP) * STEP - SPARE
  const from = Math.max(0, Math.min(wanted, count - size))
  return { from, to: Math.min(count, from + size) }
}

/** Whether the end of the rows is so near that the next page must be asked for now. */
export function isNearEnd({ count, rowHeight, above, height }: View): boolean {
  return count * rowHeight - above - height < EDGE_PX
}

/** How far to scroll so that the row is wholly in the viewport, below `covered` pixels; 0 if it is. */
export function scrollTo(row: number, { rowHeight, above, height }: View, covered: number): number {
  const top = row * rowHeight - above
  if (top < covered) return top - covered
  return Math.max(0, top + rowHeight - height)
}
