/**
 * The keys of a contact's data that a text prints without a fallback. Names that the text defines
 * itself and those of Pillarbox are left out; so are names in tags, which usually ask whether there is
 * a value.
 */
import { MAX_MARKERS } from '../../../mail/template/limits.ts'
import { markerContent, scanMarkers } from '../../../mail/template/markers.ts'
import { parseOutput } from '../../../mail/template/output-grammar.ts'
import { RESERVED_KEYS } from '../../contacts/write/data.ts'

const OWN_NAMES = new Set([...RESERVED_KEYS, 'locale', 'subscribed', 'forloop', 'tablerowloop'])

/** `{% assign x = … %}`, `{% capture x %}`, `{% for x in … %}`; `name` is x. */
const DEFINITION =
  /^(?:assign|capture|for|tablerow|increment|decrement)\s+["']?(?<name>[\p{L}_][\p{L}\p{N}_-]*)/u
const HAS_FALLBACK = /\|\s*default\b/

export function listNamedVariables(sources: readonly string[]): string[] {
  const printed = new Set<string>()
  const defined = new Set<string>()
  for (const source of sources) {
    for (const marker of scanMarkers(source, MAX_MARKERS)) {
      const content = markerContent(source, marker)
      const name = DEFINITION.exec(content)?.groups?.name
      if (marker.kind === 'tag' && name !== undefined) defined.add(name)
      const key = marker.kind === 'output' ? keyOf(content) : undefined
      if (key !== undefined) printed.add(key)
    }
  }
  return [...printed].filter((key) => !defined.has(key) && !OWN_NAMES.has(key))
}

function keyOf(content: string): string | undefined {
  const { path, fallback, headFilters, filters } = parseOutput(content)
  if (path === undefined || fallback !== undefined) return undefined
  if (HAS_FALLBACK.test(headFilters) || HAS_FALLBACK.test(filters)) return undefined
  return path[0] === 'data' && path.length > 1 ? path[1] : path[0]
}
