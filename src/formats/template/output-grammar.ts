/**
 * The grammar of `{{ … }}`: a path or a Liquid expression, with fallbacks and filters.
 *
 * Two parts of it are not Liquid and are rewritten. `x ?? text` prints the literal text if x is
 * missing, null, false or empty; of several fallbacks, the first that is not empty counts. Keys may
 * have spaces: `first name`, `profile.first name`.
 */

import { MAX_DEPTH } from './limits.ts'

/** The name of the filter into which `??` is rewritten. */
export const FALLBACK_FILTER = '_fallback'

export type OutputExpression = {
  /** The path or expression before the first filter, as written. */
  head: string
  /** The keys of `head`, outermost first; undefined if `head` is not a plain path. */
  path: readonly string[] | undefined
  /** Filters before the fallback, each with its `|`; `''` when there are none. */
  headFilters: string
  fallback: string | undefined
  /** Filters at the end, each with its `|`; `''` when there are none. */
  filters: string
}

const SIGNS = String.raw`.\\[\]|"'(){}<>=!,:;&`
const SEGMENT = new RegExp(
  String.raw`([^\s${SIGNS}][^${SIGNS}]*(?<!\s))|\[\s*(?:"([^"\\]*)"|'([^'\\]*)'|(0|[1-9]\d{0,8}))\s*\]`,
  'y',
)
const SIMPLE_PATH = /^(?!.*\.\.)[\w-][\w.-]*(?<!\.)$/
const OPERATOR_WORD = /(?:^|\s)(?:and|or|contains|not)(?:\s|$)/
const WORD_CHARACTER = /[\p{L}\p{N}_]/u

/** Parses the content of a marker: `content` is decoded and has no whitespace marks (`-`). */
export function parseOutput(content: string): OutputExpression {
  if (SIMPLE_PATH.test(content)) {
    const path = parsePath(content)
    return { head: content, path, headFilters: '', fallback: undefined, filters: '' }
  }
  const terms = splitOutsideQuotes(content, '??')
  const [first = '', ...rest] = terms
  const [head, headFilters] = splitFilters(first)
  const [lastTerm, filters] = rest.length === 0 ? ['', ''] : splitFilters(rest.pop() ?? '')
  const literals = [...rest, lastTerm].map(literalText)
  return {
    head,
    path: parsePath(head),
    headFilters,
    fallback: terms.length === 1 ? undefined : (literals.find((text) => text !== '') ?? ''),
    filters,
  }
}

/** Whether `??` replaces this value: it is missing, null, false or empty. */
export function isLacking(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return true
  return Array.isArray(value) && value.length === 0
}

/** Writes the expression in the library's grammar. */
export function toLiquid(expression: OutputExpression): string {
  const { head, path, headFilters, fallback, filters } = expression
  const isSpaced = path?.some((key) => /\s/.test(key)) === true && /\s/.test(head)
  const subject = isSpaced ? path.map((key) => `["${key}"]`).join('') : head
  const chosen = fallback === undefined ? '' : ` | ${FALLBACK_FILTER}: ${quote(fallback)}`
  return `${subject === '' ? '""' : subject}${headFilters}${chosen}${filters}`
}

function parsePath(head: string): string[] | undefined {
  if (SIMPLE_PATH.test(head)) return withinLimit(head.split('.'))
  const keys: string[] = []
  let at = 0
  while (at < head.length) {
    SEGMENT.lastIndex = at
    const match = SEGMENT.exec(head)
    if (match === null) return undefined
    const isBracket = match[1] === undefined
    if (!isBracket && keys.length > 0 && head[at - 1] !== '.') return undefined
    if (isBracket && head[at - 1] === '.') return undefined
    keys.push(match[1]?.replace(/\s+/g, ' ') ?? match[2] ?? match[3] ?? match[4] ?? '')
    at = SEGMENT.lastIndex
    if (head[at] === '.') at += 1
    if (head[at] === undefined && head.endsWith('.')) return undefined
  }
  return keys.length === 0 || isOperation(keys) ? undefined : withinLimit(keys)
}

function withinLimit(path: string[]): string[] | undefined {
  return path.length > MAX_DEPTH ? undefined : path
}

function isOperation(keys: readonly string[]): boolean {
  return keys.some((key) => key.includes(' ') && OPERATOR_WORD.test(key))
}

function splitFilters(term: string): [string, string] {
  const [head = '', ...filters] = splitOutsideQuotes(term, '|')
  return [head.trim(), filters.map((filter) => ` | ${filter.trim()}`).join('')]
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  if (!text.includes(separator)) return [text]
  const parts: string[] = []
  let begin = 0
  let at = 0
  while (at < text.length) {
    if (text.startsWith(separator, at)) {
      parts.push(text.slice(begin, at))
      at += separator.length
      begin = at
    } else {
      at = skipQuoted(text, at)
    }
  }
  return [...parts, text.slice(begin)]
}

/**
 * Returns the offset after a quoted text at `at`, or the next offset. A quote counts only if it is
 * closed and follows no word character: `don't` has none.
 */
function skipQuoted(text: string, at: number): number {
  const char = text[at] ?? ''
  if (char !== '"' && char !== "'") return at + 1
  if (WORD_CHARACTER.test(text[at - 1] ?? '')) return at + 1
  const close = text.indexOf(char, at + 1)
  return close === -1 ? at + 1 : close + 1
}

function literalText(literal: string): string {
  const text = literal.trim()
  const quoted = /^"([^"]*)"$|^'([^']*)'$/.exec(text)
  return quoted === null ? text : (quoted[1] ?? quoted[2] ?? '')
}

function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, '\\$&')}"`
}
