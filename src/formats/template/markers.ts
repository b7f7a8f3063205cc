/**
 * Finds the markers `{{ … }}` and `{% … %}` of a source and rewrites the source for the library: it
 * decodes the character references that HTML editors leave inside markers, and turns Pillarbox's
 * grammar into Liquid (see output-grammar.ts). Errors of the rewritten source are mapped back to the
 * original one.
 */
import { decodeEntities } from '../html/entities.ts'
import { parseOutput, toLiquid } from './output-grammar.ts'

export type Marker = { kind: 'output' | 'tag'; begin: number; end: number }

export type RewrittenSource = {
  text: string
  /**
   * Maps an offset to the original source; every offset in a rewritten marker maps to the marker's
   * beginning.
   */
  originalOffset(offset: number): number
}

type Shift = { begin: number; end: number; newBegin: number; newEnd: number }

const TAG_NAME = /\{%-?\s*(\w+)/y
const BODY_ENDS: Record<string, RegExp> = {
  raw: /\{%-?\s*endraw\s*-?%\}/g,
  comment: /\{%-?\s*endcomment\s*-?%\}/g,
}

/**
 * Returns the closed markers in order, at most `max`. Markers inside `raw` and `comment` are left
 * out.
 */
export function scanMarkers(source: string, max: number): Marker[] {
  const markers: Marker[] = []
  const last = { output: source.lastIndexOf('}}'), tag: source.lastIndexOf('%}') }
  let at = source.indexOf('{')
  while (at !== -1 && markers.length < max) {
    const kind = kindAt(source, at)
    if (kind === undefined || last[kind] < at + 2) {
      at = source.indexOf('{', at + 1)
      continue
    }
    const end = kind === 'output' ? outputEnd(source, at) : source.indexOf('%}', at + 2) + 2
    markers.push({ kind, begin: at, end })
    at = source.indexOf('{', kind === 'tag' ? bodyEnd(source, { at, end }) : end)
  }
  return markers
}

/** Returns the decoded content of a marker, without the blanks and `-` at its ends. */
export function markerContent(source: string, marker: Marker): string {
  return trimDashes(decodeMarker(source.slice(marker.begin + 2, marker.end - 2))).content
}

export function rewriteSource(source: string, markers: readonly Marker[]): RewrittenSource {
  const shifts: Shift[] = []
  let text = ''
  let copied = 0
  for (const { kind, begin, end } of markers) {
    const inside = source.slice(begin + 2, end - 2)
    const rewritten = kind === 'output' ? rewriteOutput(inside) : decodeMarker(inside)
    if (rewritten === inside) continue
    text += source.slice(copied, begin + 2)
    const newBegin = text.length - 2
    text += `${rewritten}${source.slice(end - 2, end)}`
    shifts.push({ begin, end, newBegin, newEnd: text.length })
    copied = end
  }
  text += source.slice(copied)
  return { text, originalOffset: (offset) => unshift(shifts, offset) }
}

function kindAt(source: string, at: number): Marker['kind'] | undefined {
  const next = source[at + 1]
  if (next === '{') return 'output'
  return next === '%' ? 'tag' : undefined
}

/**
 * Returns the offset after the first `}}` outside quotes. A quote that is still open at the next
 * marker is an apostrophe.
 */
function outputEnd(source: string, at: number): number {
  const first = source.indexOf('}}', at + 2) + 2
  let quote = ''
  for (let index = at + 2; index < source.length; index += 1) {
    const char = source[index] ?? ''
    if (quote !== '') {
      if (char === quote) quote = ''
    } else if (char === '"' || char === "'") {
      quote = char
    } else if (char === '}' && source[index + 1] === '}') {
      return index + 2
    }
    if (char === '{' && source[index + 1] === '{' && index > at + 2) return first
  }
  return first
}

/**
 * Returns the offset at which scanning continues: after the tag; for `raw` and `comment`, at the
 * end of the body.
 */
function bodyEnd(source: string, tag: { at: number; end: number }): number {
  TAG_NAME.lastIndex = tag.at
  const close = BODY_ENDS[TAG_NAME.exec(source)?.[1] ?? '']
  if (close === undefined) return tag.end
  close.lastIndex = tag.end
  return close.exec(source)?.index ?? source.length
}

function rewriteOutput(inside: string): string {
  const decoded = decodeMarker(inside)
  const { left, content, right } = trimDashes(decoded)
  const expression = parseOutput(content)
  const isLiquid = expression.fallback === undefined && !/\s/.test(expression.head)
  if (isLiquid && expression.head !== '') return decoded
  const liquid = toLiquid(expression)
  return liquid === content ? decoded : `${left} ${liquid} ${right}`
}

function decodeMarker(inside: string): string {
  return inside.includes('&') ? decodeEntities(inside).replace(/\xa0/g, ' ') : inside
}

function trimDashes(inside: string): { left: string; content: string; right: string } {
  const left = inside.startsWith('-') ? '-' : ''
  const right = inside.length > 1 && inside.endsWith('-') ? '-' : ''
  return { left, content: inside.slice(left.length, inside.length - right.length).trim(), right }
}

function unshift(shifts: readonly Shift[], offset: number): number {
  const shift = shifts.findLast(({ newBegin }) => newBegin <= offset)
  if (shift === undefined) return offset
  return offset < shift.newEnd ? shift.begin : shift.end + offset - shift.newEnd
}
