/**
 * Which keys of a contact's data a template can name. A key that a marker names stands in it as text,
 * so a key that is in no marker is not needed. A template that computes names, or walks over all data,
 * needs every key.
 */
import { MAX_MARKERS } from './limits.ts'
import { markerContent, scanMarkers } from './markers.ts'
import { checkStoredTemplate } from './template.ts'

/** `data` as a whole, or with a property that is not a key. */
const WHOLE_DATA = /\bdata\b(?!\s*(?:\.\s*(?!size\b|first\b|last\b)[\p{L}_]|\[\s*["']))/u
/** A name in brackets that is not a literal. */
const COMPUTED_NAME = /\[(?!\s*["'\d])/
const ESCAPE = /\\/
/** A filter that evaluates a text, which a template may put together. */
const EVALUATED_TEXT = /_exp\b/

const REACHING = [WHOLE_DATA, COMPUTED_NAME, ESCAPE, EVALUATED_TEXT]

/** Whether a key may be named; the sources are a message's subject, body and text. */
export type NamesKey = (key: string) => boolean

export function keysNamedIn(sources: readonly string[]): NamesKey {
  const contents: string[] = []
  for (const source of sources) {
    const markers = scanMarkers(source, MAX_MARKERS + 1)
    if (markers.length > MAX_MARKERS || checkStoredTemplate(source) !== undefined) return () => true
    contents.push(...markers.map((marker) => markerContent(source, marker)))
  }
  const reaches = (text: string) => REACHING.some((pattern) => pattern.test(text))
  if (contents.some(reaches)) return () => true
  const all = withSingleBlanks(contents.join('\n'))
  const known = new Map<string, boolean>()
  return (key) => {
    const isNamed = known.get(key) ?? all.includes(withSingleBlanks(key))
    if (known.size < MAX_KNOWN) known.set(key, isNamed)
    return isNamed
  }
}

/** Contacts of an audience may have any number of different keys. */
const MAX_KNOWN = 10_000

/** The language reads any white space within a key as one blank. */
function withSingleBlanks(text: string): string {
  return text.replace(/\s+/g, ' ')
}
