/**
 * What all recipients of an HTML template have in common, made once: the document with gaps for
 * the values, its text alternative with the same gaps, both encoded as far as they go. For
 * templates that only fill in placeholders.
 *
 * The text alternative is made of the document with a mark of Unicode's private use in each gap.
 * That it is what would be made of the filled document rests on where the gaps are (`readSlots`)
 * and on what the values are (`isFit`); template or values beyond that are for the long way. Both
 * ways lead to the same octets.
 */
import { wrapDocument } from './document.ts'
import { decodeEntities } from './html-entities.ts'
import { readMarkup } from './html-tag.ts'
import {
  fillEncoded,
  fillOutline,
  makeOutline,
  type Outline,
  toValue,
  type Value,
} from './outline.ts'
import { afterTag, htmlToText, type Link } from './plain-text.ts'
import { escapeHtml } from './template/characters.ts'
import { type Piece, type Placeholder, printPlaceholder } from './template/substitute.ts'
import type { Variables } from './template/variables.ts'
import type { EncodedText } from './text-body.ts'

export type Stencil = {
  slots: readonly Slot[]
  html: Outline
  text: Outline
  /** Links that would say less if address and text came out alike. */
  links: readonly { address: Outline; text: Outline }[]
}

/** `html` and `text` for the wire; `document` is what `html` says. */
export type Filling = { html: EncodedText; text: EncodedText; document: () => string }

/** Where a value stands, in one place at least: between quotes in a tag, in a link's address. */
type Slot = {
  /** Absent for the language of the document. */
  placeholder: Placeholder | undefined
  isQuoted: boolean
  isAddress: boolean
  isAddressStart: boolean
}

const firstMark = 0xe000
const marks = /[\ue000-\uf8ff]/
const everyMark = /[\ue000-\uf8ff]/g

const slotLimit = 1_000
const gapLimit = 2_000
const lengthLimit = 300_000
const valueLimit = 250

/** Behind these a value could become part of a tag or of a character reference. */
const unfitBefore = /(?:<[!/?]?[a-zA-Z]*|&[\w#]*)[\ue000-\uf8ff]/
/** A tag whose only marks are between quotes, however it is read. */
const quotedTag =
  /^<[a-zA-Z][^\s/>"'<=]*(?:[\s/]+[^\s/>"'<=]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s/>"'<=`]+))?)*[\s/]*>$/
const quotedValue = /"[^"]*"|'[^']*'/g

/** In a printed value: markup, or a reference that what follows could go on with. */
const unfitMarkup = /<|&[\w#]*$/
/** In the text of a value: white space that would be reduced or trimmed, and fillers. */
const unfitText = /^ | $| {2}|[^\S ]|[\0-\x1f\x7f-\x9f\xad\u200b]|\u034f/
const specialAddresses = ['#', 'javascript:', 'data:', 'cid:', 'mailto:']
const plainAddress = /^(?:https?:\/\/|[^:#]*@)/i

/** Undefined where the template holds its placeholders in other places than text and attributes. */
export function makeStencil(pieces: readonly Piece[]): Stencil | undefined {
  const marked = markPieces(pieces)
  if (marked === undefined) return undefined
  const html = wrapDocument(marked.source, markOf(0))
  const links: Link[] = []
  const text = htmlToText(html, links)
  const slots = readSlots(html, links, marked.placeholders)
  if (slots === undefined) return undefined
  return {
    slots,
    html: outlineOf(html),
    text: outlineOf(text),
    links: links.filter(mayBecomeAlike).map((link) => {
      return { address: outlineOf(link.address), text: outlineOf(link.text) }
    }),
  }
}

/** Undefined where a value is not of the plain kind. */
export function fillStencil(
  stencil: Stencil,
  { variables, language }: { variables: Variables; language: string },
): Filling | undefined {
  const printed: Value[] = []
  const shown: Value[] = []
  for (const slot of stencil.slots) {
    const { placeholder } = slot
    const value =
      placeholder === undefined
        ? escapeHtml(language)
        : printPlaceholder(placeholder, 'html', variables)
    const text = value.includes('&') ? decodeEntities(value) : value
    if (!isFit(slot, value, text)) return undefined
    const pair = toValue(value)
    printed.push(pair)
    shown.push(text === value ? pair : toValue(text))
  }
  const isAlike = stencil.links.some(({ address, text }) => {
    return fillOutline(address, shown) === fillOutline(text, shown)
  })
  if (isAlike) return undefined
  return {
    html: fillEncoded(stencil.html, printed),
    text: fillEncoded(stencil.text, shown),
    document: () => fillOutline(stencil.html, printed),
  }
}

/** The template with a mark for each placeholder; the first mark is kept for the language. */
function markPieces(
  pieces: readonly Piece[],
): { source: string; placeholders: (Placeholder | undefined)[] } | undefined {
  const numbers = new Map<Placeholder, number>()
  let source = ''
  let gaps = 0
  for (const piece of pieces) {
    if (typeof piece === 'string') {
      // As they stand, or as references that the text alternative decodes.
      if (marks.test(decodeEntities(piece)) || !piece.isWellFormed()) return undefined
      source += piece
      continue
    }
    const number = numbers.get(piece) ?? numbers.size + 1
    numbers.set(piece, number)
    source += markOf(number)
    gaps += 1
  }
  if (numbers.size > slotLimit || gaps > gapLimit || source.length > lengthLimit) return undefined
  return { source, placeholders: [undefined, ...numbers.keys()] }
}

function markOf(slot: number): string {
  return String.fromCharCode(firstMark + slot)
}

function slotOf(mark: string): number {
  return mark.charCodeAt(0) - firstMark
}

function slotsIn(text: string): number[] {
  return (text.match(everyMark) ?? []).map(slotOf)
}

function outlineOf(marked: string): Outline {
  return makeOutline(marked.split(marks).map(compact), slotsIn(marked))
}

/** The marks took UTF-16; without them most text needs one octet a character. */
function compact(piece: string): string {
  const isWide = /[^\0-\xff]/.test(piece)
  return isWide ? piece : Buffer.from(piece, 'latin1').toString('latin1')
}

/** Undefined where a mark stands in the name of something, in a comment or without quotes. */
function readSlots(
  html: string,
  links: readonly Link[],
  placeholders: readonly (Placeholder | undefined)[],
): Slot[] | undefined {
  if (unfitBefore.test(html)) return undefined
  const quoted = quotedSlots(html)
  if (quoted === undefined || !links.every(hasPlainBegin)) return undefined
  const inAddress = new Set(links.flatMap(({ address }) => slotsIn(address)))
  const atBegin = new Set(links.flatMap(({ address }) => slotsIn(address.slice(0, 1))))
  return placeholders.map((placeholder, slot) => ({
    placeholder,
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
    const found = slotsIn(html.slice(at, end))
    if (found.length > 0 && !isQuotedTag(html.slice(at, end))) return undefined
    for (const slot of found) slots.add(slot)
    at = html.indexOf('<', typeof markup === 'number' ? end : afterTag(html, markup))
  }
  return slots
}

/** Outside of quotes, blanks beyond ASCII part attributes for a regexp, and not for `readMarkup`. */
function isQuotedTag(tag: string): boolean {
  const rest = tag.replace(quotedValue, '')
  return quotedTag.test(tag) && !marks.test(rest) && !/[^\S \t\r\n\f\v]/.test(rest)
}

/** Whether no value can make a special address of it, or a plain one of a special one. */
function hasPlainBegin({ address }: Link): boolean {
  const at = address.search(marks)
  if (at <= 0) return true
  const begin = address.slice(0, at).toLowerCase()
  return !specialAddresses.some((special) => special.startsWith(begin))
}

/** An address has no white space. */
function mayBecomeAlike({ address, text }: Link): boolean {
  return address !== text && marks.test(address + text) && !/\s/.test(text)
}

function isFit(slot: Slot, printed: string, text: string): boolean {
  if (text === '' || printed.length > valueLimit || !text.isWellFormed()) return false
  if (unfitMarkup.test(printed) || unfitText.test(text)) return false
  if (slot.isQuoted && /["']/.test(printed)) return false
  if (slot.isAddress && text.includes(' ')) return false
  return !slot.isAddressStart || plainAddress.test(text)
}
