/**
 * Tracking in a precomposed body: the tokens of links and pixel are slots. If a link's address contains
 * values, the rule of `trackDocument` decides for each recipient whether the link is tracked, and the slot
 * replaces the whole address with its quotes.
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
 * Adds tracking slots to `html`, numbered after its `slots` values. Undefined if there are more
 * slots than slot characters, or an address with slots spans several lines.
 */
export function addTrackingSlots(
  html: string,
  slots: number,
  { baseUrl, numbers }: Pick<Tracker, 'baseUrl'> & Pick<TrackedEmail, 'numbers'>,
): { html: string; trackingSlots: TrackingSlot[] } | undefined {
  const places = findHrefs(html)
  if (places.some(({ value }) => hasSlots(value) && /[\r\n]/.test(value))) return undefined
  const trackingSlots: TrackingSlot[] = []
  const add = (slot: TrackingSlot) => slotCharacter(slots + trackingSlots.push(slot) - 1)
  const clicks = new Map<TrackedLink, string>()

  function clickOf(value: string): string | undefined {
    const link = toTrackedLink(value, { baseUrl }, numbers)
    if (link === undefined) return undefined
    const character = clicks.get(link) ?? add({ kind: 'click', link })
    clicks.set(link, character)
    return `"${formatClickUrl({ baseUrl }, character)}"`
  }

  let slotted = ''
  let copied = 0
  for (const { from, to, value } of places) {
    const address = hasSlots(value)
      ? add({ kind: 'address', quote: html.charAt(from), value: splitAtSlots(value) })
      : clickOf(value)
    if (address === undefined) continue
    slotted += html.slice(copied, from) + address
    copied = to
  }
  slotted = appendToBody(
    slotted + html.slice(copied),
    formatPixel({ baseUrl }, add({ kind: 'open' })),
  )
  return slots + trackingSlots.length <= MAX_SLOTS ? { html: slotted, trackingSlots } : undefined
}

/**
 * The values for the tracking slots of one recipient. `printed`: the values of the document's other
 * slots.
 */
export function fillTrackingSlots(
  trackingSlots: readonly TrackingSlot[],
  printed: readonly Value[],
  { tracker, tracked }: { tracker: Tracker; tracked: TrackedEmail },
): Value[] {
  const { emailId, numbers } = tracked
  return trackingSlots.map((slot) => {
    if (slot.kind === 'open') return plainValue(createOpenToken(tracker.openKey, emailId))
    if (slot.kind === 'click') {
      return plainValue(createClickToken(tracker.clickKey, { emailId, link: slot.link }))
    }
    const value = fillSlottedText(slot.value, printed)
    const link = toTrackedLink(value, tracker, numbers)
    if (link === undefined) return toValue(slot.quote + value + slot.quote)
    const token = createClickToken(tracker.clickKey, { emailId, link })
    return toValue(`"${formatClickUrl(tracker, token)}"`)
  })
}

/** The value of a token, which needs no escaping. */
function plainValue(text: string): Value {
  return { text, escaped: text, octets: text.length }
}
