/**
 * Finds out which keys of a contact's data a template can name. A marker that names a key has it as
 * text, so a key that is in no marker is not needed. A template that computes names, or reads all
 * data, may name every key.
 */
import { MAX_MARKERS } from './limits.ts'
import { markerContent, scanMarkers } from './markers.ts'
import { checkStoredTemplate } from './template.ts'

/**
 * Matches `data` as a whole, and `data` with a property that is no key (`size`, `first`, `last`).
 */
const WHOLE_DATA = /\bdata\b(?!\s*(?:\.\s*(?!size\b|first\b|last\b)[\p{L}_]|\[\s*["']))/u
/** Matches a bracket that contains a computed name and no literal. */
const COMPUTED_NAME = /\[(?!\s*["'\d])/
const ESCAPE = /\\/
/** Matches a filter that evaluates a text, which the template may have put together. */
const EVALUATED_TEXT = /_exp\b/

const REACHING = [WHOLE_DATA, COMPUTED_NAME, ESCAPE, EVALUATED_TEXT]

/** Tells whether a key may be named in the sources: the subject, body and text of a message. */
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

/**
 * Keys whose answer is remembered: the contacts of an audience may have any number of different
 * keys.
 */
const MAX_KNOWN = 10_000

/**
 * Replaces white space by single blanks, because the language reads any white space within a key as
 * one blank.
 */
function withSingleBlanks(text: string): string {
  return text.replace(/\s+/g, ' ')
}
