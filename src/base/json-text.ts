/**
 * JSON of strangers, read as it is written. V8 looks for a name among those that earlier objects had in the
 * same place, and compares the escapes of a name as they are written: once an object had the name `pr\u00`
 * (six characters), `JSON.parse` reads the name in `{"pr\u00e9nom":1}` as that one (nodejs/node#63785). So V8
 * gets names without escapes. Those that cannot be written so are cut out, and set afterwards.
 */
import { randomBytes } from 'node:crypto'

const COLON = 0x3a
const BACKSLASH = 0x5c
const SPACE = 0x20
/** Characters that JSON writes as escapes only (RFC 8259 section 7). */
const ESCAPED = /[\x00-\x1f"\\]/

/**
 * The beginning of the names that stand for names cut out. All texts share it, because V8 makes a shape for
 * each new name.
 */
let marker = newMarker()

function newMarker(): string {
  return randomBytes(9).toString('base64')
}

/** Parses JSON as `JSON.parse` does. @throws SyntaxError */
export function parseJsonText(text: string): unknown {
  const names = text.includes('\\') ? findEscapedNames(text) : []
  if (names.length === 0) return JSON.parse(text)
  while (text.includes(marker)) marker = newMarker()
  const pieces: string[] = []
  const cut: string[] = []
  let at = 0
  for (const { from, to } of names) {
    const name: string = JSON.parse(`"${text.slice(from, to)}"`)
    const isPlain = !ESCAPED.test(name)
    pieces.push(text.slice(at, from), isPlain ? name : `${marker}${cut.length}`)
    if (!isPlain) cut.push(name)
    at = to
  }
  const value: unknown = JSON.parse(pieces.join('') + text.slice(at))
  return cut.length === 0 ? value : setNames(value, cut)
}

/**
 * Whether lists and objects are nested in more than `levels` levels. Looks no further, so the value may be deeper
 * than the stack: then `JSON.stringify` and recursion throw a RangeError.
 */
export function isDeeperThan(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false
  return levels === 0 || Object.values(value).some((part) => isDeeperThan(part, levels - 1))
}

/**
 * The places of the names that have an escape, without their quotes. The places mean nothing if the JSON is
 * invalid.
 */
function findEscapedNames(text: string): { from: number; to: number }[] {
  const found: { from: number; to: number }[] = []
  for (let from = text.indexOf('"') + 1; from > 0; ) {
    const to = endOfString(text, from)
    if (to === -1) break
    if (isName(text, to + 1) && text.slice(from, to).includes('\\')) found.push({ from, to })
    from = text.indexOf('"', to + 1) + 1
  }
  return found
}

/** The quote that ends the string; -1 if there is none. */
function endOfString(text: string, from: number): number {
  let quote = text.indexOf('"', from)
  while (quote !== -1 && isEscaped(text, from, quote)) quote = text.indexOf('"', quote + 1)
  return quote
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, from: number, at: number): boolean {
  let first = at
  while (first > from && text.charCodeAt(first - 1) === BACKSLASH) first -= 1
  return (at - first) % 2 === 1
}

function isName(text: string, from: number): boolean {
  let at = from
  while (text.charCodeAt(at) <= SPACE) at += 1
  return text.charCodeAt(at) === COLON
}

/**
 * Puts the names that were cut out back into their objects. Works without recursion, because a value may be
 * deeper than the stack.
 */
function setNames(root: unknown, cut: readonly string[]): unknown {
  const top: Record<string, unknown> = { root }
  const waiting = [top]
  for (let holder = waiting.pop(); holder !== undefined; holder = waiting.pop()) {
    for (const name in holder) {
      const part = holder[name]
      if (typeof part !== 'object' || part === null) continue
      const named = withNames(part as Record<string, unknown>, cut)
      if (named !== part) holder[name] = named
      waiting.push(named)
    }
  }
  return top.root
}

/** Returns the object with the names that were cut out of it; the same object if it lacks none. */
function withNames(
  value: Record<string, unknown>,
  cut: readonly string[],
): Record<string, unknown> {
  if (Array.isArray(value)) return value
  const names = Object.keys(value)
  if (!names.some((name) => name.startsWith(marker))) return value
  const nameOf = (name: string) =>
    name.startsWith(marker) ? (cut[Number(name.slice(marker.length))] ?? name) : name
  // Makes `__proto__` an ordinary name.
  return Object.fromEntries(names.map((name) => [nameOf(name), value[name]]))
}
