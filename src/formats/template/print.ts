/**
 * Converts a value to text: the last step of a placeholder, in templates and in plain substitution.
 */
import { Drop, toValue } from 'liquidjs'
import { MAX_DEPTH, MAX_OUTPUT_LENGTH } from './limits.ts'

/**
 * The format of the rendered text. In `text` (for subjects and text bodies) nothing is escaped. In
 * `url`, values stand between marks, and `url-values.ts` encodes them.
 */
export type TextFormat = 'html' | 'text' | 'url'

const SEPARATORS: Readonly<Record<TextFormat, string>> = { html: '\n', text: '\n', url: ',' }

/**
 * Returns a value as Liquid prints it: null is empty, 0 and false are printed, the items of a list
 * are concatenated.
 */
export function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return depth < MAX_DEPTH ? textOfList(value, depth + 1) : ''
  if (value instanceof Drop) return textOf(toValue(value), depth)
  return typeof value === 'object' ? '[object Object]' : String(value)
}

/**
 * Returns a value as a placeholder prints it. A list has one item per line; its items are `<li>`
 * elements in HTML and are joined by commas in a URL. `escapeText` is applied to each text. Stops
 * soon after the output limit.
 */
export function printValue(
  value: unknown,
  format: TextFormat,
  escapeText: (text: string) => string = asIs,
): string {
  if (!Array.isArray(value)) return escapeText(textOf(value))
  let text = ''
  for (const [index, item] of value.entries()) {
    const line = escapeText(textOf(item, 1))
    text += `${index > 0 ? SEPARATORS[format] : ''}${format === 'html' ? `<li>${line}</li>` : line}`
    if (text.length > MAX_OUTPUT_LENGTH) break
  }
  return text
}

function textOfList(list: readonly unknown[], depth: number): string {
  return list.map((item) => textOf(item, depth)).join('')
}

function asIs(text: string): string {
  return text
}
