/**
 * Lists that are read while they are sent. A listing first finds its lines: the keys of the rows, their
 * order and their sizes. The rows themselves are read slice by slice, as the reader takes the items, so
 * that neither the memory nor the event loop holds a whole list.
 */
import { nextTurn } from '../../work/loop-turns.ts'

/** The most rows of a slice, and the most bytes. A slice with a single row may be larger. */
export const SLICE_ROWS = 100
export const SLICE_BYTES = 256 * 1024

export type Listing<Item, End> = {
  /**
   * The approximate bytes in memory at once: of the largest slice, or of the whole list if it was
   * read already.
   */
  sliceBytes: number
  /**
   * Yields the items in order. The reader answers each `yield`: true if it took the item; false if
   * it has no room left, which ends the walk before that item. The returned `End` says how the list
   * goes on.
   */
  walk(): AsyncGenerator<Item, End, boolean>
}

/** `cursor`: null on the last page. */
export type PageEnd = { cursor: string | null; hasMore: boolean }

type Lines<Line, Item> = {
  lines: readonly Line[]
  /** The approximate bytes of a row. Absent if rows are always small; they count as 0 then. */
  bytesOf?: (line: Line) => number
  /**
   * Returns the items of a slice, one for each line; undefined for a row that is gone. May return
   * only the first lines of the slice, at least one. Then the other lines are read in a later call.
   */
  read(slice: readonly Line[]): Promise<readonly (Item | undefined)[]>
}

/**
 * Makes a list of items that are in memory already. `bytesOf`: the approximate bytes of an item; 0
 * for small lists.
 */
export function listingOf<Item>(
  items: readonly Item[],
  bytesOf: (item: Item) => number = () => 0,
): Listing<Item, object> {
  const listing = wholeListing({ lines: items, bytesOf, read: async (slice) => slice })
  return { ...listing, sliceBytes: items.reduce((sum, item) => sum + bytesOf(item), 0) }
}

/** Makes a list whose reader takes all items. */
export function wholeListing<Line, Item>(list: Lines<Line, Item>): Listing<Item, object> {
  return {
    sliceBytes: largestSlice(list),
    async *walk() {
      for await (const { item } of readLines(list)) if (item !== undefined) yield item
      return {}
    },
  }
}

type Page<Line, Item> = Lines<Line, Item> & {
  /** The cursor of a page that ends with that line. */
  cursorOf(line: Line): string
  /** The cursor after all lines; null on the last page. */
  endCursor: string | null
}

/** Makes a page, which ends early when its reader has no room for an item. */
export function pageListing<Line, Item>(page: Page<Line, Item>): Listing<Item, PageEnd> {
  return {
    sliceBytes: largestSlice(page),
    async *walk() {
      let last: Line | undefined
      for await (const { line, item } of readLines(page)) {
        const isTaken = item === undefined || (yield item)
        // The reader always takes the first item.
        if (!isTaken && last !== undefined) return { cursor: page.cursorOf(last), hasMore: true }
        last = line
      }
      return { cursor: page.endCursor, hasMore: page.endCursor !== null }
    },
  }
}

/**
 * Yields the lines with their items, slice by slice, each slice in its own turn of the event loop.
 */
async function* readLines<Line, Item>(
  list: Lines<Line, Item>,
): AsyncGenerator<{ line: Line; item: Item | undefined }> {
  let isFirst = true
  for (const slice of slicesOf(list)) {
    for (let rest = slice; rest.length > 0; ) {
      if (!isFirst) await nextTurn()
      isFirst = false
      const items = await list.read(rest)
      if (items.length === 0) throw new TypeError('a slice was read without an item')
      const read = rest.slice(0, items.length)
      rest = rest.slice(read.length)
      for (const [index, line] of read.entries()) yield { line, item: items[index] }
    }
  }
}

/** Makes the same list with another end. */
export function withEnd<Item, End, Other>(
  listing: Listing<Item, End>,
  toOther: (end: End) => Other,
): Listing<Item, Other> {
  return {
    ...listing,
    async *walk() {
      return toOther(yield* listing.walk())
    },
  }
}

/** Reads all items and the end, for a caller in this process. */
export async function collect<Item, End>(
  listing: Listing<Item, End>,
): Promise<{ items: Item[]; end: End }> {
  const items: Item[] = []
  const walk = listing.walk()
  let next = await walk.next()
  while (!next.done) {
    items.push(next.value)
    next = await walk.next(true)
  }
  return { items, end: next.value }
}

/** Cuts lines into slices of at most SLICE_ROWS rows and SLICE_BYTES bytes. */
export function slicesOf<Line>({
  lines,
  bytesOf = () => 0,
}: Pick<Lines<Line, unknown>, 'lines' | 'bytesOf'>): Line[][] {
  const slices: Line[][] = []
  let slice: Line[] = []
  let bytes = 0
  for (const line of lines) {
    bytes += bytesOf(line)
    if (slice.length === SLICE_ROWS || (slice.length > 0 && bytes > SLICE_BYTES)) {
      slices.push(slice)
      slice = []
      bytes = bytesOf(line)
    }
    slice.push(line)
  }
  if (slice.length > 0) slices.push(slice)
  return slices
}

function largestSlice<Line>(list: Pick<Lines<Line, unknown>, 'lines' | 'bytesOf'>): number {
  const { bytesOf = () => 0 } = list
  const sizes = slicesOf(list).map((slice) => slice.reduce((sum, line) => sum + bytesOf(line), 0))
  return Math.max(0, ...sizes)
}
