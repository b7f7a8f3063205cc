/**
 * Taint marks values from untrusted sources: everything that is stored with a contact, and every
 * value derived from it. A tainted value is a `Drop` of the Liquid library. In conditions it acts
 * as its plain value, in HTML it is printed escaped, and in a URL it is printed between marks
 * (`url-values.ts`).
 *
 * A text keeps its taint for each character: in its protected form, a noncharacter of Unicode
 * stands in place of each character that is special in the format. Filters can cut and join
 * protected texts. Characters that the template adds stay as they are, and only the stored special
 * characters are printed as entities, or encoded.
 */
import { Drop } from 'liquidjs'
import {
  escapeHtml,
  escapeProtected,
  protectSpecials,
  protectUrlSpecials,
  restoreSpecials,
} from './characters.ts'
import { printValue, type TextFormat } from './print.ts'
import { markUrlValue, withoutUrlMarks } from './url-values.ts'

export class TaintedValue extends Drop {
  /** A string, a list or an object; an empty string is never tainted. */
  readonly value: unknown
  /** `value` is a text in its protected form. */
  readonly isProtected: boolean

  constructor(value: unknown, isProtected = false) {
    super()
    this.value = value
    this.isProtected = isProtected
  }

  get plain(): unknown {
    return this.isProtected ? restoreSpecials(withoutUrlMarks(String(this.value))) : this.value
  }

  protectedFor(format: TextFormat): unknown {
    if (this.isProtected || typeof this.value !== 'string') return this.value
    return format === 'url' ? protectUrlSpecials(this.value) : protectSpecials(this.value)
  }

  override valueOf(): unknown {
    return this.plain
  }
}

/** The namespace `data`: values of the request are plain, and stored values are tainted. */
export class TaintedData extends Drop {
  readonly stored: Record<string, unknown>
  readonly request: Record<string, unknown>

  constructor(stored: Record<string, unknown>, request: Record<string, unknown>) {
    super()
    this.stored = stored
    this.request = request
  }

  get plain(): Record<string, unknown> {
    return { ...this.stored, ...this.request }
  }

  override valueOf(): unknown {
    return this.plain
  }

  owns(key: string): boolean {
    return Object.hasOwn(this.request, key) || Object.hasOwn(this.stored, key)
  }

  read(key: string): unknown {
    if (Object.hasOwn(this.request, key)) return this.request[key]
    return Object.hasOwn(this.stored, key) ? taint(this.stored[key]) : undefined
  }
}

/** Returns the value with taint. Numbers, booleans, null, undefined and '' need no taint. */
export function taint(value: unknown): unknown {
  const isText = typeof value === 'string' && value !== ''
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Drop)
  return isText || isObject ? new TaintedValue(value) : value
}

/** Like `taint`, for a text that is already protected or escaped. */
export function taintProtected(value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? new TaintedValue(value, true) : taint(value)
}

export function isTainted(value: unknown): value is TaintedValue | TaintedData {
  return value instanceof TaintedValue || value instanceof TaintedData
}

export function toPlain(value: unknown): unknown {
  return isTainted(value) ? value.plain : value
}

/**
 * Returns the items for a loop; the items of a tainted collection are tainted. A value without
 * taint is returned unchanged.
 */
export function itemsOf(collection: unknown): unknown {
  if (collection instanceof TaintedData) {
    return Object.keys(collection.plain).map((key) => pairOf(collection, key))
  }
  if (!(collection instanceof TaintedValue)) return collection
  const { plain } = collection
  if (typeof plain === 'string') return [collection]
  if (Array.isArray(plain)) return plain.map(taint)
  return Object.entries(plain ?? {}).map(taint)
}

export function printTainted(value: TaintedValue | TaintedData, format: TextFormat): string {
  if (format === 'text') return printValue(value.plain, format)
  if (format === 'url') {
    if (value instanceof TaintedValue && value.isProtected) return markUrlValue(String(value.value))
    return markUrlValue(protectUrlSpecials(printValue(value.plain, format)))
  }
  if (value instanceof TaintedValue && value.isProtected)
    return escapeProtected(String(value.value))
  return printValue(value.plain, format, escapeHtml)
}

function pairOf(data: TaintedData, key: string): unknown {
  return Object.hasOwn(data.request, key)
    ? [key, data.request[key]]
    : taint([key, data.stored[key]])
}
