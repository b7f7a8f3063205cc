/**
 * The keys of a contact's data that a text names. Names that the text defines itself and those of
 * Pillarbox are left out, and so are placeholders of other languages. A text with more markup than
 * a template may have is not a template, and is read only up to that limit.
 */
import { walkOutputs } from '../../../formats/template/foreign-output.ts'
import { MAX_MARKERS, MAX_MARKUP_LENGTH } from '../../../formats/template/limits.ts'
import { type Marker, markerContent, scanMarkers } from '../../../formats/template/markers.ts'
import { parseOutput } from '../../../formats/template/output-grammar.ts'
import { CONTACT } from '../../../formats/template/variables.ts'
import { RESERVED_KEYS } from '../../people/contacts/write/data.ts'

/**
 * The keys of data that a text names. `printed`: keys that are printed without a fallback.
 * `guarded`: keys that occur only with a fallback, or in a tag or a filter, which usually ask
 * whether there is a value.
 */
export type NamedVariables = { printed: string[]; guarded: string[] }

/**
 * `hasContact`: whether the data may have a key `contact`. If so, `contact` is that key, and not
 * the object with the service's own variables.
 */
type NamingRule = { hasContact?: boolean }

type KeyPath = readonly string[]

const OWN_NAMES = new Set([
  ...RESERVED_KEYS,
  ...['locale', 'subscribed', 'postalAddress', 'forloop', 'tablerowloop'],
])

/** `{% assign x = … %}`, `{% capture x %}`, `{% for x in … %}`; `name` is x. */
const DEFINITION =
  /^(?:assign|capture|for|tablerow|increment|decrement)\s+["']?(?<name>[\p{L}_][\p{L}\p{N}_-]{0,99})/u

const HAS_FALLBACK = /\|\s*default\b/

/** Names of objects that contain the keys: alone, such a name is no key. */
const DATA_OBJECTS = new Set(['data', CONTACT])

/**
 * The number of guarded keys after which a call looks for no more, because guarded keys serve hints
 * only.
 */
const MAX_GUARDED = 10_000

const MAX_EXPRESSION_LENGTH = 2_000

const QUOTED = /"[^"]*"|'[^']*'/g

/** A name with its properties, or one other character. */
const TOKEN = /[\p{L}_][\p{L}\p{N}_.-]{0,199}|\S/gu

const NAME = /^[\p{L}_]/u

/** Words of the language, which are no variables; `reversed` and `continue` stand in loops. */
const LIQUID_WORDS = new Set([
  ...['true', 'false', 'nil', 'null', 'empty', 'blank'],
  ...['and', 'or', 'not', 'contains', 'in', 'reversed', 'continue'],
])

/**
 * A name after one of these characters is no variable: it is the property of something in brackets,
 * a filter, or the end of a range.
 */
const BEFORE_OTHER = new Set(['.', '|', '@', '$', '%'])

/** Tags whose text after the name of the tag is an expression. */
const EXPRESSION_TAGS = new Set(['if', 'elsif', 'unless', 'case', 'when', 'echo', 'cycle'])

export function nameVariables(
  sources: readonly string[],
  { hasContact = false }: NamingRule = {},
): NamedVariables {
  const printed: KeyPath[] = []
  const guarded: KeyPath[] = []
  const defined = new Set<string>()
  for (const source of sources) {
    for (const { kind, content } of readMarkers(source)) {
      if (kind === 'output') addOutput(content, { printed, guarded })
      else {
        for (const statement of statementsOf(content)) {
          const name = DEFINITION.exec(statement)?.groups?.name
          if (name !== undefined) defined.add(name)
          if (guarded.length < MAX_GUARDED) guarded.push(...listPathsOfTag(statement))
        }
      }
    }
  }
  const isVariable = hasContact || defined.has(CONTACT)
  const keysOf = (paths: readonly KeyPath[]) => {
    const keys = new Set(paths.map((path) => keyOf(path, isVariable)))
    return [...keys].filter((key) => !defined.has(key) && !OWN_NAMES.has(key))
  }
  const names = keysOf(printed)
  const seen = new Set([...names, ...DATA_OBJECTS])
  return { printed: names, guarded: keysOf(guarded).filter((key) => !seen.has(key)) }
}

/** Returns the markers of a text; of markers with the same content, only the first. */
function readMarkers(source: string): { kind: Marker['kind']; content: string }[] {
  const markers: Marker[] = []
  let markup = 0
  for (const marker of scanMarkers(source, MAX_MARKERS)) {
    markup += marker.end - marker.begin
    if (markup > MAX_MARKUP_LENGTH) break
    markers.push(marker)
  }
  const own = new Map<Marker, string>()
  for (const { marker, content, hint } of walkOutputs(source, markers)) {
    if (hint === undefined) own.set(marker, content)
  }
  const contents = { output: new Set<string>(), tag: new Set<string>() }
  return markers.flatMap((marker) => {
    const { kind } = marker
    const content = kind === 'tag' ? markerContent(source, marker) : own.get(marker)
    if (content === undefined || contents[kind].has(content)) return []
    contents[kind].add(content)
    return { kind, content }
  })
}

function addOutput(
  content: string,
  { printed, guarded }: { printed: KeyPath[]; guarded: KeyPath[] },
): void {
  const { head, path, fallback, headFilters, filters } = parseOutput(content)
  const isGuarded =
    fallback !== undefined || HAS_FALLBACK.test(headFilters) || HAS_FALLBACK.test(filters)
  if (path !== undefined && !isGuarded) printed.push(path)
  if (guarded.length >= MAX_GUARDED) return
  if (path === undefined) guarded.push(...listPaths(head))
  else if (isGuarded) guarded.push(path)
  guarded.push(...listPaths(headFilters), ...listPaths(filters))
}

/** Returns the tags in a marker: `{% liquid … %}` has one tag a line. */
function statementsOf(content: string): string[] {
  const isLiquid = /^liquid\b/.test(content)
  return isLiquid
    ? content
        .slice(6)
        .split('\n')
        .map((line) => line.trim())
    : [content]
}

function keyOf(path: KeyPath, hasContact: boolean): string {
  const isOurs = path[0] === CONTACT && path.length > 1 && !hasContact
  const [root = '', key] = isOurs ? path.slice(1) : path
  return root === 'data' && key !== undefined ? key : root
}

/**
 * Lists the variables in an expression of Liquid: `a.b == "x" and c | append: d` names `a.b`, `c`
 * and `d`. The list is for hints only: left out are keys in brackets, keys that do not begin with a
 * letter or `_`, and all after the first 2,000 characters of an expression without its quoted
 * texts. Returns a path for each variable, the outermost key first.
 */
function listPaths(expression: string): string[][] {
  const unquoted = expression.replace(QUOTED, ' " ')
  const tokens = unquoted.slice(0, MAX_EXPRESSION_LENGTH).match(TOKEN) ?? []
  // The last token may be cut off.
  if (unquoted.length > MAX_EXPRESSION_LENGTH) tokens.pop()
  const isVariable = (token: string, at: number) =>
    NAME.test(token) &&
    !LIQUID_WORDS.has(token) &&
    !BEFORE_OTHER.has(tokens[at - 1] ?? '') &&
    tokens[at + 1] !== ':'
  return tokens.filter(isVariable).map((token) => token.split('.'))
}

/** `content`: the text within `{% … %}`. */
function listPathsOfTag(content: string): string[][] {
  const [name = ''] = /^\w+/.exec(content) ?? []
  const rest = content.slice(name.length)
  if (EXPRESSION_TAGS.has(name)) return listPaths(rest)
  if (name === 'for' || name === 'tablerow') return listPaths(after(rest, ' in '))
  return name === 'assign' ? listPaths(after(rest, '=')) : []
}

function after(text: string, mark: string): string {
  const at = text.indexOf(mark)
  return at === -1 ? '' : text.slice(at + mark.length)
}
