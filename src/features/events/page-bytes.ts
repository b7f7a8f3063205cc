/** A hundred large items are more than a response can hold: a page ends before, and the next begins there. */
const MAX_PAGE_BYTES = 32 * 1024 * 1024

/** The first item, and those behind it as long as all together are not larger than a page may be. */
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
