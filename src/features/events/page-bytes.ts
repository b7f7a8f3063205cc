/**
 * A page of large items ends early, so that the response fits into memory; the next page continues.
 */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

/** Returns the first item, and the following ones up to MAX_PAGE_BYTES in total. */
export function limitPageBytes<Item>(
  items: readonly Item[],
  sizeOf: (item: Item) => number,
): Item[] {
  let total = 0
  const end = items.findIndex((item, index) => {
    total += sizeOf(item)
    return index > 0 && total > MAX_PAGE_BYTES
  })
  return items.slice(0, end === -1 ? items.length : end)
}
