/**
 * The links of an HTML document to the web: what `a` and `area` point to by http or https. Those
 * that a content's own text has are the same for every recipient; each has a number, which a
 * click's token carries in its place. The number is made of the link itself, so that it stays the
 * same when a template is edited around it.
 */
import { hash } from 'node:crypto'
import { decodeEntities } from './entities.ts'
import { type AttributePlace, eachTag, findAttribute } from './tag.ts'

/** By link. */
export type LinkNumbers = ReadonlyMap<string, number>

/** Of a body; a link beyond has no number, so that listing takes a few milliseconds at most. */
export const MAX_LINK_SCAN_LENGTH = 512 * 1024

const CONTROL_OR_SPACE = /[\0- ]/
const REFERENCE = /&(?:#\w*|(?:AMP|COPY|GT|LT|QUOT|REG)(?![=a-zA-Z\d])|[a-zA-Z][a-zA-Z\d]*(?=;));?/g
/** Of a reference with both its ends: more is not read by `decodeEntities`. */
const MAX_REFERENCE_LENGTH = 12

/** The first 4 octets of its SHA-256, as an unsigned number. */
export function linkNumber(url: string): number {
  return Number.parseInt(hash('sha256', url, 'hex').slice(0, 8), 16)
}

/**
 * Every http and https link in the first 512 Ki characters of a content's HTML once, in order, as
 * `readLink` reads it; without those in which template syntax stands. None where a NUL is among
 * the characters. Linear time.
 */
export function listLinks(body: string): string[] {
  const links = new Set<string>()
  const html = body.slice(0, MAX_LINK_SCAN_LENGTH)
  // Where texts are kept they may be cut there, and a link behind it would not be found again.
  if (html.includes('\0')) return []
  for (const { value } of findHrefs(html)) {
    const link = /\{[{%]/.test(value) ? undefined : readLink(value)
    if (link !== undefined) links.add(link)
  }
  return [...links]
}

/** Of the links of a content; two that would share a number have none. */
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

/** Where the addresses of links stand, whatever they are; in order. */
export function findHrefs(html: string): AttributePlace[] {
  const places: AttributePlace[] = []
  eachTag(html, (tag) => {
    if (tag.isClosing || (tag.name !== 'a' && tag.name !== 'area')) return
    const place = findAttribute(html, tag, 'href')
    if (place !== undefined) places.push(place)
  })
  return places
}

/** The link of an attribute as a browser reads it; undefined for what is not of the web. */
export function readLink(value: string): string | undefined {
  if (value.includes('&') && hasUnknownReference(value)) return undefined
  const link = trimAddress(decodeEntities(value))
  return /^https?:\/\//i.test(link) && URL.canParse(link) ? link : undefined
}

/** One that a browser might decode where `decodeEntities` does not. */
function hasUnknownReference(value: string): boolean {
  const found = value.match(REFERENCE) ?? []
  return found.some((text) => {
    return text.length > MAX_REFERENCE_LENGTH || decodeEntities(text) === text
  })
}

/** Without blanks and controls at its ends, and without line breaks and tabs (WHATWG URL, 4.4). */
function trimAddress(text: string): string {
  if (!CONTROL_OR_SPACE.test(text)) return text
  let from = 0
  let to = text.length
  while (from < to && text.charCodeAt(from) <= 0x20) from += 1
  while (to > from && text.charCodeAt(to - 1) <= 0x20) to -= 1
  return text.slice(from, to).replace(/[\t\n\r]/g, '')
}
