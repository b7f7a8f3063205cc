/**
 * The part of an HTML message that all recipients of a template share, composed once: the document
 * with slots for the values, and its text alternative with the same slots, both encoded as far as
 * possible, footer and tracking included. Only for templates with plain placeholders.
 *
 * The text alternative is made from the document with one private-use character of Unicode in each
 * slot. It equals the text of the filled document only under conditions on the places of the slots
 * (`readSlots`) and on the values (`isFit`). If a template or a value does not meet them, the message
 * is rendered in full instead (`build-message.ts`). Both ways give the same octets.
 */

import type { EncodedText } from '../compose/text-body.ts'
import { appendToBody, wrapDocument } from '../html/document.ts'
import { decodeEntities } from '../html/entities.ts'
import { type Footer, type FooterKind, footerHtml } from '../html/footer.ts'
import { htmlToText, type Link } from '../html/html-to-text.ts'
import type { LinkNumbers } from '../html/links.ts'
import { afterTag, readMarkup } from '../html/tag.ts'
import {
  addTrackingSlots,
  fillTrackingSlots,
  type Tracker,
  type TrackingSlot,
} from '../html/tracking.ts'
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

/** The footer and the tracking of the links; undefined without them. */
type PrecomposedKind = {
  footer: FooterKind | undefined
  tracking: { baseUrl: string; numbers: LinkNumbers } | undefined
}

export type PrecomposedBody = {
  slots: readonly BodySlot[]
  /** Without tracking. */
  document: SlottedText
  html: EncodedSlottedText
  text: EncodedSlottedText
  /** Links whose text part changes if address and text become equal for a recipient. */
  links: readonly { address: SlottedText; text: SlottedText }[]
  /** Slots of tracking tokens, numbered after `slots`; empty without tracking. */
  trackingSlots: readonly TrackingSlot[]
  numbers: LinkNumbers
  /**
   * The last value of each slot. The slots of the footer, and some of the others, get the same
   * value again and again.
   */
  last: FilledSlot[]
}

/** A value as it was printed, and in both forms of the message. */
type FilledSlot = { value: string; printed: Value; shown: Value }

/** The values of one recipient. */
type RecipientValues = {
  emailId: string
  variables: Variables
  language: string
  footer: Footer | null
}

/** `html` and `text`: encoded for the wire; `document`: the untracked HTML. */
type FilledBody = { html: EncodedText; text: EncodedText; document: () => string }

/** The value of a slot: the document's language, a value of the footer, or a placeholder. */
type SlotSource = 'language' | 'projectName' | 'url' | 'postalAddress' | TemplatePlaceholder

/** A value, and whether at least one of its places is in a quoted attribute or a link's address. */
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

/** Slots in which a value could become part of a tag or of a character reference. */
const UNFIT_BEFORE = /(?:<[!/?]?[a-zA-Z]*|&[\w#]*)[\ue000-\uf8ff]/
/** A tag that every HTML parser reads the same way, so that quoted slots stay quoted. */
const QUOTED_TAG =
  /^<[a-zA-Z][^\s/>"'<=]*(?:[\s/]+[^\s/>"'<=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s/>"'<=`]+))?)*[\s/]*>$/
const QUOTED_VALUE = /"[^"]*"|'[^']*'/g

/** In a printed value: markup, or an unfinished character reference. */
const UNFIT_MARKUP = /<|&[\w#]*$/
/** In the text of a value: white space that is collapsed or trimmed, and invisible characters. */
const UNFIT_TEXT = /^ | $| {2}|[^\S ]|[\0-\x1f\x7f-\x9f\xad\u200b]|\u034f/
const SPECIAL_ADDRESSES = ['#', 'javascript:', 'data:', 'cid:', 'mailto:']
const PLAIN_ADDRESS = /^(?:https?:\/\/|[^:#]*@)/i

/** Undefined if the template has placeholders elsewhere than in text and quoted attributes. */
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

/** Undefined if a value is not fit for its slot. `tracker` belongs to the body's kind. */
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

/** Undefined if the value is not fit for the slot. */
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
      // Slot characters of the template itself, written as such or as character references.
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

/** Undefined if a slot is in a name, a comment or an unquoted attribute. */
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

/** The slots inside tags, scanned as `htmlToText` does; undefined if one is not quoted. */
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

/** Outside quotes, only HTML's own blanks are allowed: `\s` matches more than `readMarkup` does. */
function isQuotedTag(tag: string): boolean {
  const rest = tag.replace(QUOTED_VALUE, '')
  return QUOTED_TAG.test(tag) && !hasSlots(rest) && !/[^\S \t\r\n\f]/.test(rest)
}

/** Whether no value can turn an ordinary address into a special one, or the reverse. */
function hasPlainBegin({ address }: Link): boolean {
  const at = address.search(SLOT_CHARACTER)
  if (at <= 0) return true
  const begin = address.slice(0, at).toLowerCase()
  return !SPECIAL_ADDRESSES.some((special) => special.startsWith(begin))
}

/** Whether address and text can become equal; an address has no white space. */
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
