/**
 * Places the values in a URL that a template makes. A placeholder prints its value between two
 * marks, with stand-ins for the special characters of the value (`characters.ts`); so the author's
 * own text is known once the whole URL is known. Then each value is percent-encoded by its place:
 *
 *   at the beginning, in the scheme, in the host    as it is: the value decides where the request goes
 *   in the path, the query, the fragment            encoded, so that it stays in its segment or parameter
 *
 * `raw` gives text without marks. A filter that encodes gives a value whose `%` and `+` have no
 * stand-ins. A filter after it that cuts or joins changes those characters alone; any other filter
 * gives a new value.
 */
import { restoreSpecials } from './characters.ts'

/** Noncharacters of Unicode, the marks before and after a value. */
const BEGIN = '\ufffe'
const END = '\uffff'
const MARKS = /[\ufffe\uffff]/g
const ANY_MARK = /[\ufffe\uffff]/

/**
 * Matches scheme and host, if a character that ends the host follows. Browsers and servers read `\`
 * as `/` (WHATWG URL, 4.4).
 */
const HOST = /^[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]+(?=[/\\?#])/i
/**
 * The place after a character with which the author ends the host, within a value that filters have
 * joined with text.
 */
const SEPARATOR = /(?<=[/\\?#])/
const ENCODED = /[\0- \x7f-\uffff]+/g
/** Line breaks and tabs, which a URL parser drops anywhere. */
const BREAKS = /[\t\n\r]+/g
/** A path segment `.` or `..`, in every form that a URL parser knows. */
const DOTS = /^(?:\.|%2e){1,2}$/i

export type PlacedUrl = { url: string } | { fault: string }

export function markUrlValue(protectedText: string): string {
  return protectedText === '' ? '' : BEGIN + protectedText + END
}

export function withoutUrlMarks(text: string): string {
  return ANY_MARK.test(text) ? text.replace(MARKS, '') : text
}

/**
 * Returns the URL, or a fault. `marked`: the text of a template of the format `url`. Line breaks
 * and tabs of the author are removed.
 */
export function placeUrlValues(marked: string): PlacedUrl {
  const placed = new PlacedValues()
  let isValue = false
  for (const part of marked.split(/([\ufffe\uffff])/)) {
    if (part === BEGIN) placed.beginValue()
    if (part === BEGIN || part === END) isValue = part === BEGIN
    else placed.add(part, isValue)
  }
  return placed.finish()
}

class PlacedValues {
  #url = ''
  /** The value that is being added began before the path, so it is not encoded. */
  #isRaw = false
  /** The offset of the path; -1 until it is known. */
  #pathAt = -1
  /** The begin and end of each value in the path and after it. */
  #ranges: [from: number, to: number][] = []

  beginValue(): void {
    this.#isRaw = this.#pathAt === -1
  }

  add(part: string, isValue: boolean): void {
    for (const piece of this.#isRaw && isValue ? part.split(SEPARATOR) : [part]) {
      const from = this.#url.length
      const line = piece.replace(BREAKS, '')
      if (isValue && this.#isRaw) this.#append(restoreSpecials(line).replace(BREAKS, ''))
      else this.#append(isValue ? encode(line) : encodeStandIns(line))
      const to = this.#url.length
      if (isValue && !this.#isRaw && to > from) this.#ranges.push([from, to])
      // This separator is the author's, because separators of a value are stand-ins.
      if (/[/\\?#]$/.test(piece)) this.#isRaw = this.#pathAt === -1
    }
  }

  finish(): PlacedUrl {
    if (this.#pathAt === -1) return { url: this.#url }
    const end = this.#url.slice(this.#pathAt).search(/[?#]/)
    const pathEnd = end === -1 ? this.#url.length : this.#pathAt + end
    let from = this.#pathAt
    let next = 0
    for (const segment of this.#url.slice(this.#pathAt, pathEnd).split(/[/\\]/)) {
      const to = from + segment.length
      while ((this.#ranges[next]?.[1] ?? Number.POSITIVE_INFINITY) <= from) next += 1
      const isForeign = (this.#ranges[next]?.[0] ?? to) < to
      if (isForeign && DOTS.test(segment)) {
        return { fault: 'a value makes "." or ".." a part of the path of the url' }
      }
      from = to + 1
    }
    return { url: this.#url }
  }

  #append(text: string): void {
    this.#url += this.#url === '' ? text.replace(/^[\0- ]+/, '') : text
    if (this.#pathAt === -1) this.#pathAt = HOST.exec(this.#url)?.[0].length ?? -1
  }
}

/** Encodes a value: its stand-ins, controls, spaces and all characters outside ASCII. */
function encode(text: string): string {
  return encodeStandIns(text).replace(ENCODED, (run) => encodeURIComponent(run.toWellFormed()))
}

/**
 * Encodes the stand-ins as the characters that they stand for. `encodeURIComponent` would leave
 * some of these.
 */
function encodeStandIns(text: string): string {
  return text.replace(/[\ufdd0-\ufdef]/g, (char) => {
    const code = restoreSpecials(char).charCodeAt(0)
    return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
  })
}
