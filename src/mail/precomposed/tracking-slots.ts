/**
 * The gaps that a tracked document has besides those of its values: the tokens of its links and of
 * its pixel. A link whose address holds values is decided for each recipient, by the rule of
 * `trackDocument`, and its gap takes the address with its quotes.
 */
import { appendToBody } from '../html/document.ts'
import { findHrefs } from '../html/links.ts'
import {
  formatClickUrl,
  formatPixel,
  type TrackedEmail,
  type TrackedLink,
  type Tracker,
  toTrackedLink,
} from '../html/tracking.ts'
import { createClickToken, createOpenToken } from '../signed-tokens.ts'
import { hasSlots, MAX_SLOTS, slotCharacter, splitAtSlots } from './slot-characters.ts'
import { fillSlottedText, type SlottedText, toValue, type Value } from './slotted-text.ts'

export type TrackingSlot =
  | { kind: 'click'; link: TrackedLink }
  | { kind: 'address'; quote: string; value: SlottedText }
  | { kind: 'open' }

/**
 * `html` has marks for the values of that many slots; the gaps are the slots behind them. Undefined
 * where there are more than marks, or an address goes over several lines.
 */
export function addTrackingSlots(
  html: string,
  slots: number,
  { baseUrl, numbers }: Pick<Tracker, 'baseUrl'> & Pick<TrackedEmail, 'numbers'>,
): { html: string; gaps: TrackingSlot[] } | undefined {
  const places = findHrefs(html)
  if (places.some(({ value }) => hasSlots(value) && /[\r\n]/.test(value))) return undefined
  const gaps: TrackingSlot[] = []
  const add = (gap: TrackingSlot) => slotCharacter(slots + gaps.push(gap) - 1)
  const clicks = new Map<TrackedLink, string>()

  function clickOf(value: string): string | undefined {
    const link = toTrackedLink(value, { baseUrl }, numbers)
    if (link === undefined) return undefined
    const mark = clicks.get(link) ?? add({ kind: 'click', link })
    clicks.set(link, mark)
    return `"${formatClickUrl({ baseUrl }, mark)}"`
  }

  let marked = ''
  let copied = 0
  for (const { from, to, value } of places) {
    const address = hasSlots(value)
      ? add({ kind: 'address', quote: html.charAt(from), value: splitAtSlots(value) })
      : clickOf(value)
    if (address === undefined) continue
    marked += html.slice(copied, from) + address
    copied = to
  }
  marked = appendToBody(
    marked + html.slice(copied),
    formatPixel({ baseUrl }, add({ kind: 'open' })),
  )
  return slots + gaps.length <= MAX_SLOTS ? { html: marked, gaps } : undefined
}

/** `printed`: the values of the document. */
export function fillTrackingSlots(
  gaps: readonly TrackingSlot[],
  printed: readonly Value[],
  { tracker, tracked }: { tracker: Tracker; tracked: TrackedEmail },
): Value[] {
  const { emailId, numbers } = tracked
  return gaps.map((gap) => {
    if (gap.kind === 'open') return plainValue(createOpenToken(tracker.openKey, emailId))
    if (gap.kind === 'click') {
      return plainValue(createClickToken(tracker.clickKey, { emailId, link: gap.link }))
    }
    const value = fillSlottedText(gap.value, printed)
    const link = toTrackedLink(value, tracker, numbers)
    if (link === undefined) return toValue(gap.quote + value + gap.quote)
    const token = createClickToken(tracker.clickKey, { emailId, link })
    return toValue(`"${formatClickUrl(tracker, token)}"`)
  })
}

/** A token needs no escape. */
function plainValue(text: string): Value {
  return { text, escaped: text, octets: text.length }
}
