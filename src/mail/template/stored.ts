/**
 * The mark on values that a stranger may have written: everything stored with a contact, and what
 * is derived from it. A marked value is a drop of the library that stands for its plain value in
 * conditions, and is escaped when it is printed in HTML.
 *
 * In a text the mark goes by the character: in its inked form the five characters that matter in
 * HTML are replaced by noncharacters of Unicode, one for one. So filters that move text about can
 * work on it, what a template adds stays the template's own, and only stored characters come out
 * as entities.
 */
import { Drop } from 'liquidjs'
import { escapeHtml, ink, settle, unink } from './characters.ts'
import { printValue, type TextFormat } from './print.ts'

export class Stored extends Drop {
  /** A string, a list or an object; never empty text. */
  readonly value: unknown
  /** `value` is a text in its inked form. */
  readonly isInked: boolean

  constructor(value: unknown, isInked = false) {
    super()
    this.value = value
    this.isInked = isInked
  }

  get plain(): unknown {
    return this.isInked ? unink(String(this.value)) : this.value
  }

  get inked(): unknown {
    return this.isInked || typeof this.value !== 'string' ? this.value : ink(this.value)
  }

  override valueOf(): unknown {
    return this.plain
  }
}

/** The namespace `data`: a key of the request is plain, any other one is marked. */
export class StoredData extends Drop {
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

  read(key: string): unknown {
    if (Object.hasOwn(this.request, key)) return this.request[key]
    return Object.hasOwn(this.stored, key) ? mark(this.stored[key]) : undefined
  }
}

/** The value marked; numbers, booleans and nothing need no mark. */
export function mark(value: unknown): unknown {
  const isText = typeof value === 'string' && value !== ''
  const isObject = typeof value === 'object' && value !== null && !(value instanceof Drop)
  return isText || isObject ? new Stored(value) : value
}

/** As `mark`, for a text that is inked already, or escaped. */
export function markInked(value: unknown): unknown {
  return typeof value === 'string' && value !== '' ? new Stored(value, true) : mark(value)
}

export function isMarked(value: unknown): value is Stored | StoredData {
  return value instanceof Stored || value instanceof StoredData
}

export function toPlain(value: unknown): unknown {
  return isMarked(value) ? value.plain : value
}

/** What a loop goes over: marked items of a marked collection, everything else as it is. */
export function itemsOf(collection: unknown): unknown {
  if (collection instanceof StoredData) {
    return Object.keys(collection.plain).map((key) => pairOf(collection, key))
  }
  if (!(collection instanceof Stored)) return collection
  const { plain } = collection
  if (typeof plain === 'string') return [collection]
  if (Array.isArray(plain)) return plain.map(mark)
  return Object.entries(plain ?? {}).map(mark)
}

export function printMarked(value: Stored | StoredData, target: TextFormat): string {
  if (target === 'text') return printValue(value.plain, target)
  if (value instanceof Stored && value.isInked) return settle(String(value.value))
  return printValue(value.plain, target, escapeHtml)
}

function pairOf(data: StoredData, key: string): unknown {
  return Object.hasOwn(data.request, key) ? [key, data.request[key]] : mark([key, data.stored[key]])
}
