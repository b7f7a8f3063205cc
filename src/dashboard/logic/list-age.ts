/** How old the rows of a list are. */

type Row = { id: string }
type Page = { data: readonly Row[]; readAt: number }

/**
 * When the oldest of the rows was read, in epoch milliseconds; 0 without pages. `news`: rows that were read again later,
 * which may be those of several pages, or some of one.
 */
export function oldestRead(
  pages: readonly Page[],
  news: { rows: readonly Row[]; at: number },
): number {
  const renewed = new Set(news.rows.map(({ id }) => id))
  const times = pages.map(({ data, readAt }) =>
    data.every(({ id }) => renewed.has(id)) ? Math.max(readAt, news.at) : readAt,
  )
  return times.length === 0 ? 0 : Math.min(...times)
}
