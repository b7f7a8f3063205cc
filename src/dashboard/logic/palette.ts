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
/** More matches than these keep their own order: to rank thousands would hold up the next key. */
const MAX_RANKED = 200
/** The server refuses a longer text. */
const MAX_SEARCH_LENGTH = 255

/** One error in a word of the text is forgiven. */
const matcher = new UFuzzy({ intraMode: 1, interLft: 0 })
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The entries that match a text, best first. Without a text: those that were used last, then the others in order. */
type Match<Entry> = (text: string, recent: readonly string[]) => Entry[]

/** Reads the entries once, however many texts are matched. */
export function createMatch<Entry extends PaletteEntry>(entries: readonly Entry[]): Match<Entry> {
  const titles = UFuzzy.latinize(entries.map(({ title }) => title))
  const words = titles.map((title, at) => `${title} ${entries[at]?.detail}`)
  const beginnings = titles.map((title) => title.toLowerCase())
  const find = (text: string): number[] => {
    if (text === '') return [...entries.keys()]
    const [indexes, info, order] = matcher.search(words, text, 1, MAX_RANKED)
    return order === null ? (indexes ?? []) : order.map((at) => info.idx[at] as number)
  }
  return (text, recent) => {
    if (text.trim().length > MAX_TEXT_LENGTH) return []
    const wanted = (UFuzzy.latinize([text])[0] ?? text).trim().toLowerCase()
    const rank = (at: number) => {
      if (wanted !== '' && beginnings[at]?.startsWith(wanted)) return -1
      const place = recent.indexOf(entries[at]?.id ?? '')
      return place === -1 ? MAX_RECENT : place
    }
    return find(wanted)
      .toSorted((one, other) => rank(one) - rank(other))
      .slice(0, MAX_ENTRIES)
      .flatMap((at) => entries[at] ?? [])
  }
}

/** The ids of the last entries with this one first. */
export function withRecent(recent: readonly string[], id: string): string[] {
  return [id, ...recent.filter((one) => one !== id)].slice(0, MAX_RECENT)
}

/** The ids that were stored; none if the text was written by something else. */
export function parseRecent(stored: string | null): string[] {
  try {
    const value: unknown = JSON.parse(stored ?? '[]')
    return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

/** Whether the server should look for the text: it is long enough to mean a thing. */
export function isSearchable(text: string): boolean {
  const { length } = text.trim()
  return length >= 2 && length <= MAX_SEARCH_LENGTH
}

/** Whether the text is an address, an id or a Message-ID: it names one thing, and no page or action. */
export function namesThing(text: string): boolean {
  const wanted = text.trim()
  return UUID.test(wanted) || (wanted.includes('@') && !/\s/.test(wanted))
}

/** The address in a text such as `suppress ann@example.org`; a text in angle brackets is a Message-ID. */
export function addressIn(text: string): string | undefined {
  if (text.trim().startsWith('<')) return undefined
  return text.split(/[\s<>(),;:"]/).find((word) => {
    const [local = '', domain = '', ...rest] = word.split('@')
    const labels = domain.split('.')
    return local !== '' && rest.length === 0 && labels.length > 1 && !labels.includes('')
  })
}

/**
 * The place of the chosen entry: the one that the person went to, wherever it stands by now, or else the first.
 * -1: none, while a thing that the text names is still looked for.
 */
export function chosenPlace(
  shown: readonly Pick<PaletteEntry, 'id'>[],
  chosen: string | undefined,
  { isLooking, isNamed }: { isLooking: boolean; isNamed: boolean },
): number {
  const at = shown.findIndex(({ id }) => id === chosen)
  if (at !== -1) return at
  return shown.length === 0 || (isLooking && isNamed) ? -1 : 0
}

/** The place that an arrow leads to, round the ends of the list; the first or the last from none. */
export function nextPlace(current: number, step: number, count: number): number {
  const from = current === -1 && step < 0 ? 0 : current
  return count === 0 ? -1 : (from + step + count) % count
}
