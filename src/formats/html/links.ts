/**
 * The http and https links of an HTML document, in `a` and `area` elements. Links that are in the
 * content itself are the same for every recipient; each has a number that a click token carries
 * instead of the link. The number is derived from the link, so it survives edits of the template.
 */
import { hash } from 'node:crypto'
import { decodeEntities, MAX_REFERENCE_LENGTH } from './entities.ts'
import { type AttributePlace, eachTag, findAttribute, type Tag } from './tag.ts'

/** The URL of a link -> its number. */
export type LinkNumbers = ReadonlyMap<string, number>

/**
 * Characters of a body that are scanned for links in a few milliseconds. Links after them have no
 * number.
 */
export const MAX_LINK_SCAN_LENGTH = 512 * 1024

const CONTROL_OR_SPACE = /[\0- ]/
const REFERENCE = /&(?:#\w*|(?:AMP|COPY|GT|LT|QUOT|REG)(?![=a-zA-Z\d])|[a-zA-Z][a-zA-Z\d]*(?=;));?/g

/** The first 4 octets of the link's SHA-256, as an unsigned number. */
export function linkNumber(url: string): number {
  return Number.parseInt(hash('sha256', url, 'hex').slice(0, 8), 16)
}

/**
 * The distinct http and https links in the first 512 Ki characters of a content's HTML, in order,
 * in the form that `readLink` returns. Links with template syntax are left out. Empty if those
 * characters contain a NUL. Linear time.
 */
export function listLinks(body: string): string[] {
  const links = new Set<string>()
  const html = body.slice(0, MAX_LINK_SCAN_LENGTH)
  // A database may cut the text at the NUL, and would then not find the links after it again.
  if (html.includes('\0')) return []
  for (const { value } of findHrefs(html)) {
    const link = /\{[{%]/.test(value) ? undefined : readLink(value)
    if (link !== undefined) links.add(link)
  }
  return [...links]
}

/** Numbers the links of a content; links whose numbers collide are left out. */
export function numberLinks(body: string): LinkNumbers {
  const byNumber = new Map<number, string[]>()
  for (const link of listLinks(body)) {
    const number = linkNumber(link)
    byNumber.set(number, [...(byNumber.get(number) ?? []), link])
  }
  const pairs = [...byNumber].map(([number, [link = '', ...others]]) => {
    return others.length === 0 ? ([link, number] as const) : undefined
  })
  return new Map(pairs.filter((pair) => pair !== undefined))
}

/** The places of the addresses of all links, of any scheme, in order. */
export function findHrefs(html: string): AttributePlace[] {
  const places: AttributePlace[] = []
  if (!/href/i.test(html)) return places
  eachTag(html, (tag) => {
    const place = hrefOf(html, tag)
    if (place !== undefined) places.push(place)
  })
  return places
}

/** The place of the tag's link address; undefined if the tag is no link. */
export function hrefOf(html: string, tag: Tag): AttributePlace | undefined {
  const isLink = !tag.isClosing && (tag.name === 'a' || tag.name === 'area')
  return isLink ? findAttribute(html, tag, 'href') : undefined
}

/**
 * Returns the link in an attribute's value as a browser reads it; undefined unless it is http or
 * https.
 */
export function readLink(value: string): string | undefined {
  if (value.includes('&') && hasUnknownReference(value)) return undefined
  const link = trimAddress(decodeEntities(value))
  return /^https?:\/\//i.test(link) && URL.canParse(link) ? link : undefined
}

/**
 * Whether the value may contain a reference that a browser decodes and `decodeEntities` does not.
 */
function hasUnknownReference(value: string): boolean {
  const found = value.match(REFERENCE) ?? []
  return found.some((text) => {
    return text.length > MAX_REFERENCE_LENGTH || decodeEntities(text) === text
  })
}

/** Removes blanks and controls at the ends, and all line breaks and tabs (WHATWG URL, 4.4). */
function trimAddress(text: string): string {
  if (!CONTROL_OR_SPACE.test(text)) return text
  let from = 0
  let to = text.length
  while (from < to && text.charCodeAt(from) <= 0x20) from += 1
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1
  return text.slice(from, to).replace(/[\t\n\r]/g, '')
}
