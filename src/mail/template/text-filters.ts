/**
 * Filters that move text about. They work on the inked form of marked text, so that what comes out
 * has each character with its own mark; a list can be inked where it is joined.
 */
import { hasSpecials } from './characters.ts'
import { textOf } from './print.ts'
import { markInked } from './stored.ts'
import { applyPlain, inkedOperand, type Use } from './use.ts'

/** By name, the positions of those arguments that are looked for in it. */
const INKABLE: Record<string, readonly number[]> = {
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
/** Units of one place where something is replaced. */
const UNITS_PER_REPLACEMENT = 10

export function isTextFilter(name: string): boolean {
  return INKABLE[name] !== undefined
}

/** Whether the filter looks for its argument in its value. */
export function isSearch(name: string): boolean {
  return REPLACING_FILTERS.has(name) || name === 'split'
}

export function applyTextFilter(use: Use): unknown {
  return REPLACING_FILTERS.has(use.name) ? applyReplacement(use) : applyInked(use)
}

function applyInked(use: Use): unknown {
  if (!use.isMarked || !canInk(use)) return applyPlain(use)
  return markInked(use.run(use.operands.map(inkedOperand)))
}

/** A pattern with special characters is looked for in the plain text, which is as long. */
function applyReplacement(use: Use): unknown {
  const { name, plain, operands } = use
  const pattern = textOf(plain[1])
  if (!use.isMarked || !hasSpecials(pattern) || Array.isArray(plain[0])) return applyInked(use)
  const text = textOf(inkedOperand(operands[0]))
  const replacement = name.startsWith('remove') ? '' : textOf(inkedOperand(operands[2]))
  const places = placesOf(textOf(plain[0]), pattern, name)
  const price = replacement.length + UNITS_PER_REPLACEMENT
  use.call.context.memoryLimit.use(text.length + places.length * price)
  let replaced = ''
  let copied = 0
  for (const place of places) {
    replaced += text.slice(copied, place) + replacement
    copied = place + pattern.length
  }
  return markInked(replaced + text.slice(copied))
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

/** Whether the filter does the same to inked text as to plain text. */
function canInk({ name, plain }: Use): boolean {
  const patterns = INKABLE[name] ?? []
  if (patterns.some((index) => hasSpecials(textOf(plain[index])))) return false
  const isJoining = JOINING_FILTERS.has(name)
  return plain.every((operand, index) => {
    if (!Array.isArray(operand)) return true
    return isJoining && index === 0 && operand.every((item) => typeof item !== 'object')
  })
}
