/** What the palette lists for a text: pages and actions by fuzzy match, those that were used last first. */
import UFuzzy from '@leeoniya/ufuzzy'

export type PaletteEntry = {
  /** Stays the same over visits and languages. */
  id: string
  title: string
  /** What kind of entry this is, in words. */
  detail: string
}

const MAX_ENTRIES = 12
const MAX_RECENT = 8
/** A longer text names no entry, and its pattern would take all memory. */
const MAX_TEXT_LENGTH = 40

/** One error in a word of the text is forgiven. */
const matcher = new UFuzzy({ intraMode: 1, interLft: 0 })

/** The entries that match, best first. Without a text: those that were used last, then the others in their order. */
export function rankEntries<Entry extends PaletteEntry>(
  entries: readonly Entry[],
  text: string,
  recent: readonly string[],
): Entry[] {
  const place = ({ id }: PaletteEntry) => {
    const at = recent.indexOf(id)
    return at === -1 ? MAX_RECENT : at
  }
  if (text.trim() === '') {
    return entries.toSorted((one, other) => place(one) - place(other)).slice(0, MAX_ENTRIES)
  }
  if (text.trim().length > MAX_TEXT_LENGTH) return []
  const words = UFuzzy.latinize(entries.map(({ title, detail }) => `${title} ${detail}`))
  const found = matcher.search(words, UFuzzy.latinize([text])[0] ?? text, 1, 1_000)
  const [indexes, info, order] = found
  if (indexes === null || indexes.length === 0) return []
  const ranked = order === null ? indexes : order.map((at) => info.idx[at] as number)
  return ranked.slice(0, MAX_ENTRIES).flatMap((at) => entries[at] ?? [])
}

/** The ids of the last entries with this one first. */
export function withRecent(recent: readonly string[], id: string): string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, MAX_RECENT)
}

/** Whether the server should look for the text: it is long enough to mean a thing. */
export function isSearchable(text: string): boolean {
  return text.trim().length >= 2
}
