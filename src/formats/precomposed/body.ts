/**
 * Precomposes the part of an HTML message that all recipients of a template share: the document
 * with slots for the values, and its text alternative with the same slots. Both are encoded as far
 * as possible, footer and tracking included. Only templates with plain placeholders can be
 * precomposed. The text alternative is made from the document with one private-use character of
 * Unicode in each slot. It equals the text of the filled document only under conditions on the
 * places of the slots (`readSlots`) and on the values (`isFit`). A message that does not meet them
 * is rendered in full (`build-message.ts`). Both ways give the same octets.
 */

import type { EncodedText } from '../compose/text-body.ts'
import { appendToBody, wrapDocument } from '../html/document.ts'
import { decodeEntities } from '../html/entities.ts'
import { type Footer, type FooterKind, footerHtml } from '../html/footer.ts'
import { htmlToText, type Link } from '../html/html-to-text.ts'
import type { LinkNumbers } from '../html/links.ts'
import { afterTag, readMarkup } from '../html/tag.ts'
import type { Tracker } from '../html/tracking.ts'
import { escapeHtml } from '../template/characters.ts'
import { type Piece, printPlaceholder, type TemplatePlaceholder } from '../template/substitute.ts'
import type { Variables } from '../template/variables.ts'
import {
  hasSlots,
  listSlots,
  SLOT_CHARACTER,
  slotCharacter,
  splitAtSlots,
} from './slot-characters.ts'
import {
  type EncodedSlottedText,
  encodeSlottedText,
  fillEncoded,
  fillSlottedText,
  type SlottedText,
  toValue,
  type Value,
} from './slotted-text.ts'
import { addTrackingSlots, fillTrackingSlots, type TrackingSlot } from './tracking-slots.ts'

/** `footer`: undefined without a footer. `tracking`: undefined if links are not tracked. */
type PrecomposedKind = {
  footer: FooterKind | undefined
  tracking: { baseUrl: string; numbers: LinkNumbers } | undefined
}

export type PrecomposedBody = {
  slots: readonly BodySlot[]
  /** The HTML document without tracking. */
  document: SlottedText
  html: EncodedSlottedText
  text: EncodedSlottedText
  /**
   * Links whose text form changes if their address and their words become equal for a recipient.
   */
  links: readonly { address: SlottedText; text: SlottedText }[]
  /** The slots for tracking tokens, numbered after `slots`; empty if the body is not tracked. */
  trackingSlots: readonly TrackingSlot[]
  numbers: LinkNumbers
  /**
   * The last filled value of each slot. Slots of the footer, and some others, get the same value
   * again and again.
   */
  last: FilledSlot[]
}

/** `printed`: the value in the HTML; `shown`: the value in the plain text. */
type FilledSlot = { value: string; printed: Value; shown: Value }

/** The values of one recipient. */
type RecipientValues = {
  emailId: string
  variables: Variables
  language: string
  footer: Footer | null
}

/** `html` and `text` are encoded for the wire; `document` returns the HTML without tracking. */
type FilledBody = { html: EncodedText; text: EncodedText; document: () => string }

/**
 * The source of a slot's value: the document's language, a value of the footer, or a placeholder.
 */
type SlotSource = 'language' | 'projectName' | 'url' | 'postalAddress' | TemplatePlaceholder

/**
 * A slot's source, and whether one of its places is in a quoted attribute, in a link's address, or
 * at the start of one.
 */
type BodySlot = {
  source: SlotSource
  isQuoted: boolean
  isAddress: boolean
  isAddressStart: boolean
}

const FOOTER_SOURCES = ['language', 'projectName', 'url'] as const

const MAX_VALUES = 1_000
const MAX_PLACEHOLDERS = 2_000
const MAX_LENGTH = 300_000
const MAX_VALUE_LENGTH = 250

/** Matches a slot whose value could become part of a tag or of a character reference. */
const UNFIT_BEFORE = /(?:<[!/?]?[a-zA-Z]*|&[\w#]*)[\ue000-\uf8ff]/
/**
 * Matches a tag that every HTML parser reads the same way, so that a slot in quotes stays in
 * quotes.
 */
const QUOTED_TAG =
  /^<[a-zA-Z][^\s/>"'<=]*(?:[\s/]+[^\s/>"'<=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s/>"'<=`]+))?)*[\s/]*>$/
const QUOTED_VALUE = /"[^"]*"|'[^']*'/g

/** In a printed value, matches markup or an unfinished character reference. */
const UNFIT_MARKUP = /<|&[\w#]*$/
/**
 * In the plain text of a value, matches white space that would be collapsed or trimmed, and
 * invisible characters.
 */
const UNFIT_TEXT = /^ | $| {2}|[^\S ]|[\0-\x1f\x7f-\x9f\xad\u200b]|\u034f/
const SPECIAL_ADDRESSES = ['#', 'javascript:', 'data:', 'cid:', 'mailto:']
const PLAIN_ADDRESS = /^(?:https?:\/\/|[^:#]*@)/i

/**
 * Precomposes a body; undefined if a placeholder stands elsewhere than in text or a quoted
 * attribute.
 */
export function precomposeBody(
  pieces: readonly Piece[],
  kind: PrecomposedKind,
): PrecomposedBody | undefined {
  const slotted = insertSlotCharacters(pieces, kind.footer)
  if (slotted === undefined) return undefined
  const { html, sources } = slotted
  const links: Link[] = []
  const text = htmlToText(html, links)
  const slots = readSlots(html, links, sources)
  if (slots === undefined) return undefined
  const tracked = kind.tracking && addTrackingSlots(html, slots.length, kind.tracking)
  if (kind.tracking !== undefined && tracked === undefined) return undefined
  const document = splitAtSlots(html)
  return {
    slots,
    document,
    html: encodeSlottedText(tracked === undefined ? document : splitAtSlots(tracked.html)),
    text: encodeSlottedText(splitAtSlots(text)),
    links: links.filter(mayBecomeAlike).map((link) => {
      return { address: splitAtSlots(link.address), text: splitAtSlots(link.text) }
    }),
    trackingSlots: tracked?.trackingSlots ?? [],
    numbers: kind.tracking?.numbers ?? new Map(),
    last: [],
  }
}

/**
 * Fills a body for one recipient; undefined if a value does not fit its slot. `tracker`: has the
 * base URL of the body's tracking.
 */
export function fillPrecomposedBody(
  body: PrecomposedBody,
  recipient: RecipientValues,
  tracker: Tracker,
): FilledBody | undefined {
  const printed: Value[] = []
  const shown: Value[] = []
  for (let i = 0; i < body.slots.length; i += 1) {
    const slot = body.slots[i] as BodySlot
    const value = printSlot(slot, recipient)
    const last = body.last[i]
    const filled = last?.value === value ? last : fillSlot(slot, value)
    if (filled === undefined) return undefined
    body.last[i] = filled
    printed.push(filled.printed)
    shown.push(filled.shown)
  }
  const isAlike = body.links.some(({ address, text }) => {
    return fillSlottedText(address, shown) === fillSlottedText(text, shown)
  })
  if (isAlike) return undefined
  const tracked = { emailId: recipient.emailId, numbers: body.numbers }
  const tokens = fillTrackingSlots(body.trackingSlots, printed, { tracker, tracked })
  return {
    html: fillEncoded(body.html, tokens.length === 0 ? printed : [...printed, ...tokens]),
    text: fillEncoded(body.text, shown),
    document: () => fillSlottedText(body.document, printed),
  }
}

/** Encodes a value for its slot; undefined if the value does not fit the slot. */
function fillSlot(slot: BodySlot, value: string): FilledSlot | undefined {
  const text = value.includes('&') ? decodeEntities(value) : value
  if (!isFit(slot, value, text)) return undefined
  const printed = toValue(value)
  return { value, printed, shown: text === value ? printed : toValue(text) }
}

function printSlot({ source }: BodySlot, { variables, language, footer }: RecipientValues): string {
  if (typeof source === 'object') return printPlaceholder(source, 'html', variables)
  return escapeHtml(source === 'language' ? language : (footer?.[source] ?? ''))
}

type SlottedDocument = { html: string; sources: readonly SlotSource[] }

/** The document with a slot character in place of each value. */
function insertSlotCharacters(
  pieces: readonly Piece[],
  footer: FooterKind | undefined,
): SlottedDocument | undefined {
  const own = ownSources(footer)
  const joined = joinPieces(pieces, own.length)
  if (joined === undefined) return undefined
  const html = wrapDocument(joined.source, slotCharacter(0))
  const sources = [...own, ...joined.placeholders]
  if (footer === undefined) return { html, sources }
  const end = footerHtml({
    language: footer.language,
    projectName: slotCharacter(1),
    url: slotCharacter(2),
    postalAddress: footer.hasPostalAddress ? slotCharacter(3) : null,
  })
  return { html: appendToBody(html, end), sources }
}

function ownSources(footer: FooterKind | undefined): readonly SlotSource[] {
  if (footer === undefined) return ['language']
  return footer.hasPostalAddress ? [...FOOTER_SOURCES, 'postalAddress'] : FOOTER_SOURCES
}

/** The template with a slot character for each placeholder, numbered from `ownSlots`. */
function joinPieces(
  pieces: readonly Piece[],
  ownSlots: number,
): { source: string; placeholders: TemplatePlaceholder[] } | undefined {
  const numbers = new Map<TemplatePlaceholder, number>()
  let source = ''
  let places = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      // The template itself contains slot characters, written directly or as character references.
      if (hasSlots(decodeEntities(piece)) || !piece.isWellFormed()) return undefined
      source += piece
      continue
    }
    const number = numbers.get(piece) ?? numbers.size
    numbers.set(piece, number)
    source += slotCharacter(ownSlots + number)
    places += 1
  }
  if (numbers.size > MAX_VALUES || places > MAX_PLACEHOLDERS || source.length > MAX_LENGTH) {
    return undefined
  }
  return { source, placeholders: [...numbers.keys()] }
}

/** Describes the slots; undefined if one is in a name, a comment or an unquoted attribute. */
function readSlots(
  html: string,
  links: readonly Link[],
  sources: readonly SlotSource[],
): BodySlot[] | undefined {
  if (UNFIT_BEFORE.test(html)) return undefined
  const quoted = quotedSlots(html)
  if (quoted === undefined || !links.every(hasPlainBegin)) return undefined
  const inAddress = new Set(links.flatMap(({ address }) => listSlots(address)))
  const atBegin = new Set(links.flatMap(({ address }) => listSlots(address.slice(0, 1))))
  return sources.map((source, slot) => ({
    source,
    isQuoted: quoted.has(slot),
    isAddress: inAddress.has(slot),
    isAddressStart: atBegin.has(slot),
  }))
}

/**
 * Returns the slots inside tags, scanned as `htmlToText` does; undefined if one of them is not in
 * quotes.
 */
function quotedSlots(html: string): Set<number> | undefined {
  const slots = new Set<number>()
  let at = html.indexOf('<')
  while (at !== -1) {
    const markup = readMarkup(html, at)
    if (markup === undefined) {
      at = html.indexOf('<', at + 1)
      continue
    }
    const end = typeof markup === 'number' ? markup : markup.end
    const found = listSlots(html.slice(at, end))
    if (found.length > 0 && !isQuotedTag(html.slice(at, end))) return undefined
    for (const slot of found) slots.add(slot)
    at = html.indexOf('<', typeof markup === 'number' ? end : afterTag(html, markup))
  }
  return slots
}

/**
 * Whether every parser reads the tag alike. Outside quotes only HTML's own blanks are allowed; the
 * `\s` of `QUOTED_TAG` matches more blanks than `readMarkup` knows.
 */
function isQuotedTag(tag: string): boolean {
  const rest = tag.replace(QUOTED_VALUE, '')
  return QUOTED_TAG.test(tag) && !hasSlots(rest) && !/[^\S \t\r\n\f]/.test(rest)
}

/**
 * Whether no value can turn an ordinary address into one with special treatment (`mailto:`, `#`),
 * or the reverse.
 */
function hasPlainBegin({ address }: Link): boolean {
  const at = address.search(SLOT_CHARACTER)
  if (at <= 0) return true
  const begin = address.slice(0, at).toLowerCase()
  return !SPECIAL_ADDRESSES.some((special) => special.startsWith(begin))
}

/**
 * Whether a value can make the link's address and its words equal; an address contains no white
 * space.
 */
function mayBecomeAlike({ address, text }: Link): boolean {
  return address !== text && hasSlots(address + text) && !/\s/.test(text)
}

function isFit(slot: BodySlot, printed: string, text: string): boolean {
  if (text === '' || printed.length > MAX_VALUE_LENGTH || !text.isWellFormed()) return false
  if (UNFIT_MARKUP.test(printed) || UNFIT_TEXT.test(text)) return false
  if (slot.isQuoted && /["']/.test(printed)) return false
  if (slot.isAddress && text.includes(' ')) return false
  return !slot.isAddressStart || PLAIN_ADDRESS.test(text)
}
