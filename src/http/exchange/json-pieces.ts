/** Serializes a value as JSON in pieces, so that a large value does not block the event loop. */

/** The characters of a piece, which takes about a millisecond. */
export const JSON_PIECE_LENGTH = 128 * 1024
/**
 * Levels that are serialized piece by piece: the page, its lists, their items, and the objects in
 * an item. Deeper values are small, except for texts.
 */
export const LEVELS = 4

/** Whether a value is so short that it is serialized at once, which is much faster than in pieces. */
export function isShort(value: unknown): boolean {
  return jsonLengthOf(value, JSON_PIECE_LENGTH) < JSON_PIECE_LENGTH
}

/**
 * Estimates the length of a value as JSON: the characters of its texts, and a few for each other
 * value in it. Stops counting at `enough`.
 */
export function jsonLengthOf(value: unknown, enough = Number.POSITIVE_INFINITY): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return OTHER_LENGTH
  let length = OTHER_LENGTH
  for (const name in value) {
    length += name.length + jsonLengthOf(value[name as keyof typeof value], enough - length)
    if (length >= enough) break
  }
  return length
}

const OTHER_LENGTH = 8

/**
 * Yields the JSON of a value in pieces of at most about JSON_PIECE_LENGTH, most of them much shorter.
 */
export function* jsonPiecesOf(value: unknown, levels: number): Generator<string> {
  if (typeof value === 'string') yield* piecesOfText(value)
  else if (typeof value !== 'object' || value === null || levels === 0) yield JSON.stringify(value)
  else if (Array.isArray(value)) yield* piecesOfList(value, levels)
  else yield* piecesOfObject(value, levels)
}

function* piecesOfList(list: readonly unknown[], levels: number): Generator<string> {
  yield '['
  for (const [index, member] of list.entries()) {
    if (index > 0) yield ','
    yield* jsonPiecesOf(member ?? null, levels - 1)
  }
  yield ']'
}

function* piecesOfObject(object: object, levels: number): Generator<string> {
  const given = Object.entries(object).filter(([, member]) => member !== undefined)
  yield '{'
  for (const [index, [name, member]] of given.entries()) {
    yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`
    yield* jsonPiecesOf(member, levels - 1)
  }
  yield '}'
}

/** A surrogate pair that is cut in two is written as two escapes with the same meaning. */
function* piecesOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += JSON_PIECE_LENGTH) {
    yield JSON.stringify(text.slice(at, at + JSON_PIECE_LENGTH)).slice(1, -1)
  }
  yield '"'
}
