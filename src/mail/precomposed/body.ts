/**
 * What all recipients of an HTML template have in common, made once: the document with gaps for
 * the values, its text alternative with the same gaps, both encoded as far as they go. For
 * templates that only fill in placeholders. The footer, and what tracking adds, are part of it.
 *
 * The text alternative is made of the document with a mark of Unicode's private use in each gap.
 * That it is what would be made of the filled document rests on where the gaps are (`readSlots`)
 * and on what the values are (`isFit`); template or values beyond that are for the long way. Both
 * ways lead to the same octets.
 */

import type { EncodedText } from '../compose/text-body.ts'
import { appendToBody, wrapDocument } from '../html/document.ts'
import { decodeEntities } from '../html/entities.ts'
import { type Footer, footerHtml } from '../html/footer.ts'
import { htmlToText, type Link } from '../html/html-to-text.ts'
import type { LinkNumbers } from '../html/links.ts'
import { afterTag, readMarkup } from '../html/tag.ts'
import type { Tracker } from '../html/tracking.ts'
import type { Language } from '../languages.ts'
import { escapeHtml } from '../template/characters.ts'
import { type Piece, type Placeholder, printPlaceholder } from '../template/substitute.ts'
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

/** The language of its footer, if it has one, and how it is tracked, if it is. */
export type PrecomposedKind = {
  footer: Language | undefined
  tracking: { baseUrl: string; numbers: LinkNumbers } | undefined
}

export type PrecomposedBody = {
  slots: readonly Slot[]
  /** Without what tracking adds. */
  document: SlottedText
  html: EncodedSlottedText
  text: EncodedSlottedText
  /** Links that would say less if address and text came out alike. */
  links: readonly { address: SlottedText; text: SlottedText }[]
  /** Behind the slots, where the document is tracked. */
  gaps: readonly TrackingSlot[]
  numbers: LinkNumbers
}

/** What is a recipient's own. */
export type RecipientValues = {
  emailId: string
  variables: Variables
  language: string
  footer: Footer | null
}

/** `html` and `text` for the wire; `document` is what `html` says, untracked. */
export type FilledBody = { html: EncodedText; text: EncodedText; document: () => string }

/** What a gap is for: the language of the document, two things of the footer, or a value. */
type SlotSource = 'language' | 'projectName' | 'url' | Placeholder

/** Where a value stands, in one place at least: between quotes in a tag, in a link's address. */
type Slot = {
  source: SlotSource
  isQuoted: boolean
  isAddress: boolean
  isAddressStart: boolean
}

const OWN_SOURCES = ['language', 'projectName', 'url'] as const

const MAX_VALUES = 1_000
const MAX_PLACEHOLDERS = 2_000
const MAX_LENGTH = 300_000
const MAX_VALUE_LENGTH = 250

/** Behind these a value could become part of a tag or of a character reference. */
const UNFIT_BEFORE = /(?:<[!/?]?[a-zA-Z]*|&[\w#]*)[\ue000-\uf8ff]/
/** A tag whose only marks are between quotes, however it is read. */
const QUOTED_TAG =
  /^<[a-zA-Z][^\s/>"'<=]*(?:[\s/]+[^\s/>"'<=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s/>"'<=`]+))?)*[\s/]*>$/
const QUOTED_VALUE = /"[^"]*"|'[^']*'/g

/** In a printed value: markup, or a reference that what follows could go on with. */
const UNFIT_MARKUP = /<|&[\w#]*$/
/** In the text of a value: white space that would be reduced or trimmed, and fillers. */
const UNFIT_TEXT = /^ | $| {2}|[^\S ]|[\0-\x1f\x7f-\x9f\xad\u200b]|\u034f/
const SPECIAL_ADDRESSES = ['#', 'javascript:', 'data:', 'cid:', 'mailto:']
const PLAIN_ADDRESS = /^(?:https?:\/\/|[^:#]*@)/i

/** Undefined where the template holds its placeholders in other places than text and attributes. */
export function precomposeBody(
  pieces: readonly Piece[],
  kind: PrecomposedKind,
): PrecomposedBody | undefined {
  const marked = insertSlotCharacters(pieces, kind.footer)
  if (marked === undefined) return undefined
  const { html, sources } = marked
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
    gaps: tracked?.gaps ?? [],
    numbers: kind.tracking?.numbers ?? new Map(),
  }
}

/** Undefined where a value is not of the plain kind. `tracker` is that of the stencil's kind. */
export function fillPrecomposedBody(
  stencil: PrecomposedBody,
  recipient: RecipientValues,
  tracker: Tracker,
): FilledBody | undefined {
  const printed: Value[] = []
  const shown: Value[] = []
  for (const slot of stencil.slots) {
    const value = printSlot(slot, recipient)
    const text = value.includes('&') ? decodeEntities(value) : value
    if (!isFit(slot, value, text)) return undefined
    const pair = toValue(value)
    printed.push(pair)
    shown.push(text === value ? pair : toValue(text))
  }
  const isAlike = stencil.links.some(({ address, text }) => {
    return fillSlottedText(address, shown) === fillSlottedText(text, shown)
  })
  if (isAlike) return undefined
  const tracked = { emailId: recipient.emailId, numbers: stencil.numbers }
  const tokens = fillTrackingSlots(stencil.gaps, printed, { tracker, tracked })
  return {
    html: fillEncoded(stencil.html, tokens.length === 0 ? printed : [...printed, ...tokens]),
    text: fillEncoded(stencil.text, shown),
    document: () => fillSlottedText(stencil.document, printed),
  }
}

function printSlot({ source }: Slot, { variables, language, footer }: RecipientValues): string {
  if (typeof source === 'object') return printPlaceholder(source, 'html', variables)
  return escapeHtml(source === 'language' ? language : (footer?.[source] ?? ''))
}

type SlottedDocument = { html: string; sources: readonly SlotSource[] }

/** The document with a mark for the source of each value. */
function insertSlotCharacters(
  pieces: readonly Piece[],
  footer: Language | undefined,
): SlottedDocument | undefined {
  const own = footer === undefined ? (['language'] as const) : OWN_SOURCES
  const marked = joinPieces(pieces, own.length)
  if (marked === undefined) return undefined
  const html = wrapDocument(marked.source, slotCharacter(0))
  const sources = [...own, ...marked.placeholders]
  if (footer === undefined) return { html, sources }
  const end = footerHtml({ language: footer, projectName: slotCharacter(1), url: slotCharacter(2) })
  return { html: appendToBody(html, end), sources }
}

/** The template with a mark for each placeholder, the first `ownSlots` marks left out. */
function joinPieces(
  pieces: readonly Piece[],
  ownSlots: number,
): { source: string; placeholders: Placeholder[] } | undefined {
  const numbers = new Map<Placeholder, number>()
  let source = ''
  let gaps = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      // As they stand, or as references that the text alternative decodes.
      if (hasSlots(decodeEntities(piece)) || !piece.isWellFormed()) return undefined
      source += piece
      continue
    }
    const number = numbers.get(piece) ?? numbers.size
    numbers.set(piece, number)
    source += slotCharacter(ownSlots + number)
    gaps += 1
  }
  if (numbers.size > MAX_VALUES || gaps > MAX_PLACEHOLDERS || source.length > MAX_LENGTH)
    return undefined
  return { source, placeholders: [...numbers.keys()] }
}

/** Undefined where a mark stands in the name of something, in a comment or without quotes. */
function readSlots(
  html: string,
  links: readonly Link[],
  sources: readonly SlotSource[],
): Slot[] | undefined {
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

/** Those inside of tags; reads as `htmlToText` does. */
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

/** Outside of quotes, blanks that HTML has not part attributes for `\s`, not for `readMarkup`. */
function isQuotedTag(tag: string): boolean {
  const rest = tag.replace(QUOTED_VALUE, '')
  return QUOTED_TAG.test(tag) && !hasSlots(rest) && !/[^\S \t\r\n\f]/.test(rest)
}

/** Whether no value can make a special address of it, or a plain one of a special one. */
function hasPlainBegin({ address }: Link): boolean {
  const at = address.search(SLOT_CHARACTER)
  if (at <= 0) return true
  const begin = address.slice(0, at).toLowerCase()
  return !SPECIAL_ADDRESSES.some((special) => special.startsWith(begin))
}

/** An address has no white space. */
function mayBecomeAlike({ address, text }: Link): boolean {
  return address !== text && hasSlots(address + text) && !/\s/.test(text)
}

function isFit(slot: Slot, printed: string, text: string): boolean {
  if (text === '' || printed.length > MAX_VALUE_LENGTH || !text.isWellFormed()) return false
  if (UNFIT_MARKUP.test(printed) || UNFIT_TEXT.test(text)) return false
  if (slot.isQuoted && /["']/.test(printed)) return false
  if (slot.isAddress && text.includes(' ')) return false
  return !slot.isAddressStart || PLAIN_ADDRESS.test(text)
}
