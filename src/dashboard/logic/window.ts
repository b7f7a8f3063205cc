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
const STEP = 2
/** Rows beyond the viewport, on each side. */
const SPARE = 15
const MAX_ROWS = 80
const EDGE_PX = 1_500
/** Rows out of view that one frame may make. */
const FEW = 6

/** At most 80 rows: those in the viewport and some on both sides. */
export function windowOf({ count, rowHeight, above, height }: View): Span {
  const first = Math.floor(Math.max(0, above) / rowHeight)
  const shown = Math.ceil(height / rowHeight)
  const size = Math.min(MAX_ROWS, Math.ceil(shown / STEP) * STEP + STEP + 2 * SPARE)
  const wanted = Math.floor(first / STEP) * STEP - SPARE
  const from = Math.max(0, Math.min(wanted, count - size))
  return { from, to: Math.min(count, from + size) }
}

/**
 * The rows of the next frame on the way from `before` to `aim`: what is in view at once, the others a few at a time,
 * so that no frame has much to make.
 */
export function stepTo(before: Span, aim: Span, { rowHeight, above, height }: View): Span {
  const seen = overlap(aim, {
    from: Math.floor(above / rowHeight),
    to: Math.ceil((above + height) / rowHeight),
  })
  const kept = overlap(aim, before)
  const isApart = kept.from >= kept.to || kept.from > seen.to || seen.from > kept.to
  const from = isApart ? seen.from : Math.min(kept.from, seen.from)
  const to = isApart ? seen.to : Math.max(kept.to, seen.to)
  const below = Math.min(FEW, aim.to - to)
  return { from: Math.max(aim.from, from - (FEW - below)), to: to + below }
}

/** The part of `span` that lies within `bounds`; an empty one at their edge if there is none. */
function overlap(bounds: Span, span: Span): Span {
  const from = Math.max(bounds.from, Math.min(bounds.to, span.from))
  return { from, to: Math.max(from, Math.min(bounds.to, span.to)) }
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
