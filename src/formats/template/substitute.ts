/**
 * Plain substitution: fills in `{{ path }}` and `{{ path ?? text }}`, ignores filters, and leaves
 * everything else unchanged. It is the fallback for templates that cannot be parsed or whose
 * rendering is stopped, and the fast way for templates that have only plain placeholders.
 */
import { escapeHtml, protectUrlSpecials } from './characters.ts'
import { MAX_MARKERS } from './limits.ts'
import { type Marker, markerContent, scanMarkers } from './markers.ts'
import { isLacking, type OutputExpression, parseOutput } from './output-grammar.ts'
import { printValue, type TextFormat } from './print.ts'
import { markUrlValue } from './url-values.ts'
import { CONTACT, type Variables } from './variables.ts'

/** A literal text, or a placeholder. */
export type Piece = string | TemplatePlaceholder

export type TemplatePlaceholder = { path: readonly string[]; fallback: string | undefined }

const LITERALS = new Set(['true', 'false', 'nil', 'null', 'empty', 'blank'])
const COMPUTED_KEYS = new Set(['size', 'first', 'last'])

/**
 * Splits any source into pieces; placeholders beyond the maximum number of markers stay as text.
 */
export function splitPieces(source: string): Piece[] {
  const markers = scanMarkers(source, MAX_MARKERS)
  const outputs = markers.filter(({ kind }) => kind === 'output')
  return cutAt(source, outputs, (marker) => toPlaceholder(source, marker))
}

/**
 * Splits a source into pieces if substitution gives the same result as the full language, else
 * returns undefined.
 */
export function splitPlainPieces(source: string): Piece[] | undefined {
  const markers = scanMarkers(source, MAX_MARKERS + 1)
  if (markers.length > MAX_MARKERS) return undefined
  /**
   * Placeholder as written -> the parsed placeholder. Most templates repeat a few variables many
   * times.
   */
  const placeholders = new Map<string, TemplatePlaceholder>()
  for (const marker of markers) {
    const written = source.slice(marker.begin, marker.end)
    if (placeholders.has(written)) continue
    if (marker.kind === 'tag' || trimsText(source, marker)) return undefined
    const expression = parseOutput(markerContent(source, marker))
    if (!isPlain(expression)) return undefined
    placeholders.set(written, { path: expression.path, fallback: expression.fallback })
  }
  return cutAt(
    source,
    markers,
    ({ begin, end }) => placeholders.get(source.slice(begin, end)) ?? '',
  )
}

/** Replaces the placeholders and cuts the result at `limit` characters. Never throws. */
export function substitute(
  pieces: readonly Piece[],
  { format, variables }: { format: TextFormat; variables: Variables },
  limit: number,
): string {
  let output = ''
  for (const piece of pieces) {
    output += typeof piece === 'string' ? piece : printPlaceholder(piece, format, variables)
    if (output.length > limit) return output.slice(0, limit).toWellFormed()
  }
  return output
}

/** Returns the text that replaces the placeholder. */
export function printPlaceholder(
  { path, fallback }: TemplatePlaceholder,
  format: TextFormat,
  variables: Variables,
): string {
  const { request } = variables
  const isPrefixed = path[0] === CONTACT && path.length > 1
  const isOurs = isPrefixed && ownerOf(CONTACT, ordered(variables)) === undefined
  const named = isOurs ? path.slice(1) : path
  const isData = named[0] === 'data' && named.length > 1
  const keys = isData ? named.slice(1) : named
  const [root = '', ...rest] = keys
  const owner = ownerOf(root, isData ? [request, variables.stored] : ordered(variables))
  const value = rest.reduce(readKey, owner?.[root] as unknown)
  if (fallback !== undefined && isLacking(value)) return fallback
  if (format === 'url') return markUrlValue(protectUrlSpecials(printValue(value, format)))
  return printValue(value, format, format === 'html' && owner !== request ? escapeHtml : undefined)
}

function cutAt(
  source: string,
  markers: readonly Marker[],
  toPiece: (marker: Marker) => Piece,
): Piece[] {
  const pieces: Piece[] = []
  let copied = 0
  for (const marker of markers) {
    pieces.push(source.slice(copied, marker.begin), toPiece(marker))
    copied = marker.end
  }
  pieces.push(source.slice(copied))
  return pieces.filter((piece) => piece !== '')
}

function toPlaceholder(source: string, marker: Marker): TemplatePlaceholder {
  const { path = [], fallback } = parseOutput(markerContent(source, marker))
  return { path, fallback }
}

function trimsText(source: string, { begin, end }: Marker): boolean {
  return source[begin + 2] === '-' || source[end - 3] === '-'
}

/** Whether the full language would do no more for this placeholder than look up the path. */
function isPlain(
  expression: OutputExpression,
): expression is OutputExpression & { path: readonly string[] } {
  const { path, headFilters, filters } = expression
  if (path === undefined || headFilters !== '' || filters !== '') return false
  const [first = '', ...rest] = path
  if (/^[-\d]/.test(first) || LITERALS.has(first)) return false
  const [last] = first === CONTACT && rest[0] === 'data' ? rest.slice(1) : rest
  if ((first === 'data' || first === CONTACT) && last === undefined) return false
  return !rest.some((key) => COMPUTED_KEYS.has(key))
}

function ordered({ system, request, stored }: Variables): Record<string, unknown>[] {
  return [system, request, stored]
}

function ownerOf(
  key: string,
  records: readonly Record<string, unknown>[],
): Record<string, unknown> | undefined {
  return records.find((record) => Object.hasOwn(record, key))
}

/** Reads a key as the library does: only own properties count, also those of lists and texts. */
function readKey(value: unknown, key: string): unknown {
  if (value === undefined || value === null || !Object.hasOwn(value, key)) return undefined
  return (value as Record<string, unknown>)[key]
}
