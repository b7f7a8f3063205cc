/**
 * The text alternative of an HTML body: an empty line between paragraphs and headings, lists with
 * markers, the cells of a row on one line, links as "text (address)", images as their alternative
 * text. Lines are not wrapped. It makes one pass over the markup without a tree and handles long
 * texts piece by piece, so that time and memory are linear for any input.
 */

import { createTextBuilder, type TextBuilder } from '../text-builder.ts'
import { decodeEntities, MAX_REFERENCE_LENGTH } from './entities.ts'
import { afterTag, isRawElement, readAttributes, readMarkup, type Tag } from './tag.ts'

/** Elements that begin and end a line: 1 without, 2 with an empty line before and after. */
const BLOCK_ELEMENTS = new Map<string, 1 | 2>([
  ...names('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre figure', 2),
  ...names('address article aside body caption center dd details div dt fieldset', 1),
  ...names('figcaption footer form header hgroup html legend li main menu nav option', 1),
  ...names('optgroup section select summary tbody tfoot thead tr', 1),
])

/** Invisible characters: soft hyphen, combining grapheme joiner, zero-width space, BOM. */
const INVISIBLE = /\xad|\u034f|\u200b|\ufeff/g

/**
 * Matches text that must be normalised: it has white space to collapse or invisible characters to
 * remove.
 */
const NEEDS_NORMALISING = /\s\s|[^\S ]|\xad|\u034f|\u200b/

/** Characters of one piece: a text between two tags is read in pieces. */
const PIECE_LENGTH = 32_768
/** Characters of a link's words that are kept for a comparison with the link's address. */
const MAX_LINK_TEXT_LENGTH = 65_536

/** Lists and quotations that are nested more deeply than this are not indented further. */
const MAX_INDENT_DEPTH = 8

type List = { isOrdered: boolean; count: number }
/**
 * `address`: the address in the form that the text shows; `text`: the link's words, concatenated.
 */
export type Link = { address: string; text: string }

type ConversionState = {
  html: string
  written: TextBuilder
  /** Line ends to write before the next text. */
  breaks: 0 | 1 | 2
  hasSpace: boolean
  /** Marker of a list item, written at the beginning of the next line. */
  marker: string
  /** The separator to write before the next cell of a row, if the cell begins on the same line. */
  separator: string
  lists: List[]
  quotes: number
  preformatted: number
  link: Link | undefined
  links: Link[] | undefined
}

/**
 * Converts an HTML document to text. Appends to `links`, in order, the links whose address the text
 * could show.
 */
export function htmlToText(html: string, links?: Link[]): string {
  const state = startState(html, links)
  let at = 0
  while (at < html.length) {
    const open = html.indexOf('<', at)
    const markup = open === -1 ? html.length : readMarkup(html, open)
    const textEnd = open === -1 ? html.length : markup === undefined ? open + 1 : open
    if (textEnd > at) addPieces(state, at, textEnd)
    if (markup === undefined) at = textEnd
    else at = typeof markup === 'number' ? markup : readTag(state, markup)
  }
  closeLink(state)
  return state.written.text().trimEnd()
}

/** Adds the text between two tags, in pieces. */
function addPieces(state: ConversionState, from: number, to: number): void {
  const { html } = state
  let at = from
  while (to - at > PIECE_LENGTH) {
    const end = pieceEnd(html, at + PIECE_LENGTH)
    addText(state, decodeEntities(html.slice(at, end)))
    at = end
  }
  addText(state, decodeEntities(html.slice(at, to)))
}

/** Returns `at`, or slightly less if `at` is inside a character reference or a line end. */
function pieceEnd(html: string, at: number): number {
  const reference = html.slice(at - MAX_REFERENCE_LENGTH, at).lastIndexOf('&')
  if (reference !== -1) return at - MAX_REFERENCE_LENGTH + reference
  return html[at - 1] === '\r' ? at - 1 : at
}

function startState(html: string, links: Link[] | undefined): ConversionState {
  const line = { breaks: 0, hasSpace: false, marker: '', separator: '' } as const
  const open = { lists: [], quotes: 0, preformatted: 0, link: undefined }
  return { html, written: createTextBuilder(), ...line, ...open, links }
}

/** Handles one tag. Returns the offset at which reading continues. */
function readTag(state: ConversionState, tag: Tag): number {
  const { name, isClosing } = tag
  if (isRawElement(name)) return afterTag(state.html, tag)
  const space = BLOCK_ELEMENTS.get(name)
  if (space !== undefined) breakLine(state, isNested(state, tag) ? 1 : space)
  if (isClosing) closeElement(state, name)
  else openElement(state, tag)
  return tag.end
}

function openElement(state: ConversionState, tag: Tag): void {
  switch (tag.name) {
    case 'a':
      closeLink(state)
      state.link = openLink(state, tag)
      break
    case 'br':
      addBreak(state)
      break
    case 'hr':
      breakLine(state, 2)
      addText(state, '---')
      breakLine(state, 2)
      break
    case 'img':
      addText(state, decodeEntities(readAttributes(state.html, tag).get('alt') ?? ''))
      break
    case 'ul':
    case 'ol':
      state.lists.push({ isOrdered: tag.name === 'ol', count: 0 })
      break
    case 'li':
      state.marker = nextMarker(state)
      break
    case 'td':
    case 'th':
      state.separator = ' | '
      break
    case 'tr':
      state.separator = ''
      break
    case 'blockquote':
      state.quotes += 1
      break
    case 'pre':
      state.preformatted += 1
      break
  }
}

function closeElement(state: ConversionState, name: string): void {
  if (name === 'a') closeLink(state)
  else if (name === 'ul' || name === 'ol') state.lists.pop()
  else if (name === 'blockquote') state.quotes = Math.max(0, state.quotes - 1)
  else if (name === 'pre') state.preformatted = Math.max(0, state.preformatted - 1)
  else if (name === 'li') state.marker = ''
}

/** Whether the element is a paragraph or a list inside a list, which needs no empty line. */
function isNested(state: ConversionState, { name, isClosing }: Tag): boolean {
  const isList = name === 'ul' || name === 'ol'
  const outer = state.lists.length - (isList && isClosing ? 1 : 0)
  return outer > 0 && (isList || name === 'p')
}

function addText(state: ConversionState, text: string): void {
  if (state.preformatted > 0) {
    addPreformatted(state, text)
    return
  }
  const collapsed = NEEDS_NORMALISING.test(text)
    ? text.replace(/\s+/g, ' ').replace(INVISIBLE, '')
    : text
  const words = collapsed.trim()
  if (collapsed.startsWith(' ')) state.hasSpace = true
  if (words === '') return
  addWords(state, words)
  state.hasSpace = collapsed.endsWith(' ')
}

function addPreformatted(state: ConversionState, text: string): void {
  for (const [index, line] of text.split(/\r\n?|\n/).entries()) {
    if (index > 0) addBreak(state)
    if (line !== '') addWords(state, line)
  }
}

function addWords(state: ConversionState, words: string): void {
  const { written } = state
  const isFirst = written.isEmpty()
  if (state.breaks > 0 || isFirst) {
    written.add(`${isFirst ? '' : '\n'.repeat(state.breaks)}${linePrefix(state)}${words}`)
  } else {
    written.add(`${state.separator || (state.hasSpace ? ' ' : '')}${words}`)
  }
  const { link } = state
  if (link !== undefined && link.text.length < MAX_LINK_TEXT_LENGTH) link.text += words
  state.breaks = 0
  state.hasSpace = false
  state.marker = ''
  state.separator = ''
}

function linePrefix(state: ConversionState): string {
  if (state.quotes === 0 && state.lists.length === 0) return state.marker
  const quotes = '> '.repeat(Math.min(state.quotes, MAX_INDENT_DEPTH))
  const depth = Math.min(state.lists.length, MAX_INDENT_DEPTH)
  const indent = '  '.repeat(Math.max(0, state.marker === '' ? depth : depth - 1))
  return `${quotes}${indent}${state.marker}`
}

function nextMarker(state: ConversionState): string {
  const list = state.lists.at(-1)
  if (list === undefined) return '- '
  list.count += 1
  return list.isOrdered ? `${list.count}. ` : '- '
}

function breakLine(state: ConversionState, count: 1 | 2): void {
  if (count > state.breaks) state.breaks = count
  state.hasSpace = false
  state.separator = ''
}

function addBreak(state: ConversionState): void {
  breakLine(state, state.breaks === 0 ? 1 : 2)
}

function openLink(state: ConversionState, tag: Tag): Link | undefined {
  const href = decodeEntities(readAttributes(state.html, tag).get('href') ?? '')
  const address = href.replace(/[\s\p{Cc}]+/gu, '').replace(/^mailto:/i, '')
  const isShown = address !== '' && !/^(?:#|javascript:|data:|cid:)/i.test(address)
  return isShown ? { address, text: '' } : undefined
}

function closeLink(state: ConversionState): void {
  const { link } = state
  state.link = undefined
  if (link === undefined) return
  state.links?.push(link)
  if (link.text === link.address) return
  if (link.text === '') addWords(state, link.address)
  else state.written.add(` (${link.address})`)
}

function names(list: string, space: 1 | 2): [string, 1 | 2][] {
  return list.split(' ').map((name) => [name, space])
}
