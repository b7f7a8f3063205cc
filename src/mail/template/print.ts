/** How a value looks once printed: the last step of a placeholder, and of the plain fallback. */
import { Drop, toValue } from 'liquidjs'
import { MAX_DEPTH, MAX_OUTPUT_LENGTH } from './limits.ts'

/** An HTML body, or plain text (a subject, a text body), where nothing is escaped. */
export type TextFormat = 'html' | 'text'

/** Liquid's text of a value: nothing for null, 0 and false in full, lists run together. */
export function textOf(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value
  if (value === undefined || value === null) return ''
  if (Array.isArray(value)) return depth < MAX_DEPTH ? textOfList(value, depth + 1) : ''
  if (value instanceof Drop) return textOf(toValue(value), depth)
  return typeof value === 'object' ? '[object Object]' : String(value)
}

/** A value as a placeholder prints it: a list one item a line, as `<li>` elements in HTML. Ends
 * soon after the output limit. */
export function printValue(
  value: unknown,
  target: TextFormat,
  settle: (text: string) => string = asIs,
): string {
  if (!Array.isArray(value)) return settle(textOf(value))
  let text = ''
  for (const [index, item] of value.entries()) {
    const line = settle(textOf(item, 1))
    text += `${index > 0 ? '\n' : ''}${target === 'html' ? `<li>${line}</li>` : line}`
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
