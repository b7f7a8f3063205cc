/**
 * The gaps that a tracked document has besides those of its values: the tokens of its links and of
 * its pixel. A link whose address holds values is decided for each recipient, by the rule of
 * `trackDocument`, and its gap takes the address with its quotes.
 */
import { appendToBody } from '../html/document.ts'
import { findHrefs } from '../html/links.ts'
import {
  type CountedLink,
  clickAddressOf,
  countedLink,
  pixel,
  type Tracked,
  type Tracker,
} from '../html/tracking.ts'
import { createClickToken, createOpenToken } from '../signed-tokens.ts'
import { hasMarks, markCount, markOf, outlineOf } from './slot-characters.ts'
import { fillOutline, type Outline, toValue, type Value } from './slotted-text.ts'

export type Gap =
  | { kind: 'click'; link: CountedLink }
  | { kind: 'address'; quote: string; value: Outline }
  | { kind: 'open' }

/**
 * `html` has marks for the values of that many slots; the gaps are the slots behind them. Undefined
 * where there are more than marks, or an address goes over several lines.
 */
export function markTracking(
  html: string,
  slots: number,
  { baseUrl, numbers }: Pick<Tracker, 'baseUrl'> & Pick<Tracked, 'numbers'>,
): { html: string; gaps: Gap[] } | undefined {
  const places = findHrefs(html)
  if (places.some(({ value }) => hasMarks(value) && /[\r\n]/.test(value))) return undefined
  const gaps: Gap[] = []
  const add = (gap: Gap) => markOf(slots + gaps.push(gap) - 1)
  const clicks = new Map<CountedLink, string>()

  function clickOf(value: string): string | undefined {
    const link = countedLink(value, { baseUrl }, numbers)
    if (link === undefined) return undefined
    const mark = clicks.get(link) ?? add({ kind: 'click', link })
    clicks.set(link, mark)
    return `"${clickAddressOf({ baseUrl }, mark)}"`
  }

  let marked = ''
  let copied = 0
  for (const { from, to, value } of places) {
    const address = hasMarks(value)
      ? add({ kind: 'address', quote: html.charAt(from), value: outlineOf(value) })
      : clickOf(value)
    if (address === undefined) continue
    marked += html.slice(copied, from) + address
    copied = to
  }
  marked = appendToBody(marked + html.slice(copied), pixel({ baseUrl }, add({ kind: 'open' })))
  return slots + gaps.length <= markCount ? { html: marked, gaps } : undefined
}

/** `printed`: the values of the document. */
export function fillGaps(
  gaps: readonly Gap[],
  printed: readonly Value[],
  { tracker, tracked }: { tracker: Tracker; tracked: Tracked },
): Value[] {
  const { emailId, numbers } = tracked
  return gaps.map((gap) => {
    if (gap.kind === 'open') return plainValue(createOpenToken(tracker.openKey, emailId))
    if (gap.kind === 'click') {
      return plainValue(createClickToken(tracker.clickKey, { emailId, link: gap.link }))
    }
    const value = fillOutline(gap.value, printed)
    const link = countedLink(value, tracker, numbers)
    if (link === undefined) return toValue(gap.quote + value + gap.quote)
    const token = createClickToken(tracker.clickKey, { emailId, link })
    return toValue(`"${clickAddressOf(tracker, token)}"`)
  })
}

/** A token needs no escape. */
function plainValue(text: string): Value {
  return { text, escaped: text, octets: text.length }
}
