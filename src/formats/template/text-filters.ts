/**
 * Filters that cut and join text. They work on the protected form of tainted text, so that every
 * character of the result keeps its own taint. Joining filters also accept lists.
 */
import { hasSpecials, hasUrlSpecials, restoreSpecials } from './characters.ts'
import { applyPlain, type FilterCall, protectedOperand } from './filter-call.ts'
import { textOf } from './print.ts'
import { TaintedValue, taintProtected } from './tainted.ts'

/** Filter name -> the indexes of the operands that the filter looks for in the text. */
const CHARACTERWISE_FILTERS: Record<string, readonly number[]> = {
  append: [],
  array_to_sentence_string: [],
  capitalize: [],
  downcase: [],
  join: [],
  lstrip: [1],
  newline_to_br: [],
  normalize_whitespace: [],
  prepend: [],
  remove: [1],
  remove_first: [1],
  remove_last: [1],
  replace: [1],
  replace_first: [1],
  replace_last: [1],
  rstrip: [1],
  slice: [],
  squish: [],
  strip: [1],
  strip_newlines: [],
  truncate: [],
  truncatewords: [],
  upcase: [],
}

const JOINING_FILTERS = new Set(['join', 'array_to_sentence_string'])
const REPLACING_FILTERS = new Set([
  ...['remove', 'remove_first', 'remove_last'],
  ...['replace', 'replace_first', 'replace_last'],
])
/**
 * Filters that look for white space. In a URL, stand-ins replace white space, and these filters do
 * not find stand-ins.
 */
const SPACE_FILTERS = new Set([
  ...['capitalize', 'lstrip', 'newline_to_br', 'normalize_whitespace', 'rstrip', 'squish'],
  ...['strip', 'strip_newlines', 'truncatewords'],
])
/** Units of memory (`limits.ts`) that one replacement costs besides its characters. */
const UNITS_PER_REPLACEMENT = 10

export function isTextFilter(name: string): boolean {
  return CHARACTERWISE_FILTERS[name] !== undefined
}

/** Whether the filter looks for its argument in its value. */
export function isSearch(name: string): boolean {
  return REPLACING_FILTERS.has(name) || name === 'split'
}

export function applyTextFilter(filterCall: FilterCall): unknown {
  return REPLACING_FILTERS.has(filterCall.name)
    ? applyReplacement(filterCall)
    : applyCharacterwise(filterCall)
}

function applyCharacterwise(filterCall: FilterCall): unknown {
  if (!filterCall.isTainted || !isCharacterwise(filterCall)) return applyPlain(filterCall)
  const { operands, format } = filterCall
  return taintProtected(filterCall.run(operands.map((each) => protectedOperand(each, format))))
}

/**
 * Replaces a pattern in a protected text. A pattern with special characters is looked for in the
 * restored text, whose offsets are the same.
 */
function applyReplacement(filterCall: FilterCall): unknown {
  const { name, plain, operands, format } = filterCall
  const pattern = textOf(plain[1])
  if (!filterCall.isTainted || !isSpecial(pattern, format) || Array.isArray(plain[0]))
    return applyCharacterwise(filterCall)
  const text = textOf(protectedOperand(operands[0], format))
  const replacement = name.startsWith('remove') ? '' : textOf(protectedOperand(operands[2], format))
  const places = placesOf(restoreSpecials(text), pattern, name)
  const unitsPerPlace = replacement.length + UNITS_PER_REPLACEMENT
  filterCall.call.context.memoryLimit.use(text.length + places.length * unitsPerPlace)
  let replaced = ''
  let copied = 0
  for (const place of places) {
    replaced += text.slice(copied, place) + replacement
    copied = place + pattern.length
  }
  return taintProtected(replaced + text.slice(copied))
}

function placesOf(text: string, pattern: string, name: string): number[] {
  if (name.endsWith('_last')) return [text.lastIndexOf(pattern)].filter((place) => place !== -1)
  const places: number[] = []
  let place = text.indexOf(pattern)
  while (place !== -1 && (places.length === 0 || !name.endsWith('_first'))) {
    places.push(place)
    place = text.indexOf(pattern, place + pattern.length)
  }
  return places
}

/** Whether the filter gives the right result on protected text. */
function isCharacterwise({ name, plain, operands, format }: FilterCall): boolean {
  const [given] = operands
  const isCaptured = given instanceof TaintedValue && given.isProtected
  if (format === 'url' && SPACE_FILTERS.has(name) && !isCaptured) return false
  const patterns = CHARACTERWISE_FILTERS[name] ?? []
  if (patterns.some((index) => isSpecial(textOf(plain[index]), format))) return false
  const isJoining = JOINING_FILTERS.has(name)
  return plain.every((operand, index) => {
    if (!Array.isArray(operand)) return true
    return isJoining && index === 0 && operand.every((item) => typeof item !== 'object')
  })
}

function isSpecial(pattern: string, format: FilterCall['format']): boolean {
  return format === 'url' ? hasUrlSpecials(pattern) : hasSpecials(pattern)
}
