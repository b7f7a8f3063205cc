/**
 * The values in a URL that a template makes. A placeholder prints its value between two marks, and
 * the special characters of the value as stand-ins (`characters.ts`); so the author's own text is
 * known once the whole URL is known. Then each value is percent-encoded by its place:
 *
 *   at the beginning, in the scheme, in the host    as it is: the value decides where the request goes
 *   in the path, the query, the fragment            encoded, so that it stays in its segment or parameter
 *
 * `raw` gives text without marks. The filters that encode give a value whose `%` and `+` have no stand-ins. A
 * filter after them that cuts or joins changes those characters alone; any other filter gives a value anew.
 */
import { restoreSpecials } from './characters.ts'

/** Noncharacters of Unicode. */
const BEGIN = '\ufffe'
const END = '\uffff'
const MARKS = /[\ufffe\uffff]/g
const ANY_MARK = /[\ufffe\uffff]/

/** Scheme and host, and what ends the host. Browsers and servers read `\` as `/` (WHATWG URL, 4.4). */
const HOST = /^[a-z][a-z0-9+.-]*:[/\\]*[^/\\?#]+(?=[/\\?#])/i
/** Where the author ends the host within a value that filters joined. */
const SEPARATOR = /(?<=[/\\?#])/
const ENCODED = /[\0- \x7f-\uffff]+/g
/** A URL parser drops these anywhere. */
const BREAKS = /[\t\n\r]+/g
/** `.` and `..` in every form that a URL parser knows. */
const DOTS = /^(?:\.|%2e){1,2}$/i

export type PlacedUrl = { url: string } | { fault: string }

export function markUrlValue(protectedText: string): string {
  return protectedText === '' ? '' : BEGIN + protectedText + END
}

export function withoutUrlMarks(text: string): string {
  return ANY_MARK.test(text) ? text.replace(MARKS, '') : text
}

/**
 * `marked`: the text of a template of the format `url`. Line breaks and tabs of the author are
 * removed.
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
  /** The value that is being added began before the path. */
  #isRaw = false
  /** Where the path begins; -1 before. */
  #pathAt = -1
  /** Begin and end of each value in the path and after it. */
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
      // The separator is the author's: separators of the value are stand-ins here.
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

/** A value: stand-ins, controls and all outside ASCII. */
function encode(text: string): string {
  return encodeStandIns(text).replace(ENCODED, (run) => encodeURIComponent(run.toWellFormed()))
}

/** The special characters of values. `encodeURIComponent` leaves some of them. */
function encodeStandIns(text: string): string {
  return text.replace(/[\ufdd0-\ufdef]/g, (char) => {
    const code = restoreSpecials(char).charCodeAt(0)
    return `%${code.toString(16).toUpperCase().padStart(2, '0')}`
  })
}
