/**
 * JSON responses that may be large, such as a page of templates with their bodies. A large response
 * is serialized chunk by chunk while it is sent, so that it does not block the event loop.
 */
import { setImmediate } from 'node:timers/promises'
import { type HttpResponse, json } from '../response.ts'

/** Characters of one step, which takes milliseconds. */
const CHUNK_LENGTH = 256 * 1024
/**
 * Levels that are serialized piece by piece: the page, its lists, their items, and the objects in
 * an item. Deeper values are small, except for texts.
 */
const LEVELS = 4

export function largeJson(status: number, value: unknown): HttpResponse {
  const chunks = chunksOf(value)
  const first = chunks.next().value ?? ''
  const second = chunks.next().value
  const { headers } = json(status, null)
  if (second === undefined) return { status, headers, body: first }
  return { status, headers, body: streamChunks([first, second], chunks) }
}

async function* streamChunks(
  begun: readonly string[],
  rest: Iterable<string>,
): AsyncGenerator<Uint8Array> {
  for (const chunk of begun) yield Buffer.from(chunk)
  for (const chunk of rest) {
    yield Buffer.from(chunk)
    await setImmediate()
  }
}

function* chunksOf(value: unknown): Generator<string, undefined> {
  let made = ''
  for (const piece of piecesOf(value, LEVELS)) {
    made += piece
    if (made.length < CHUNK_LENGTH) continue
    yield made
    made = ''
  }
  if (made !== '') yield made
}

function* piecesOf(value: unknown, levels: number): Generator<string> {
  if (typeof value === 'string') yield* piecesOfText(value)
  else if (typeof value !== 'object' || value === null || levels === 0) yield JSON.stringify(value)
  else if (Array.isArray(value)) yield* piecesOfList(value, levels)
  else yield* piecesOfObject(value, levels)
}

function* piecesOfList(list: readonly unknown[], levels: number): Generator<string> {
  yield '['
  for (const [index, member] of list.entries()) {
    if (index > 0) yield ','
    yield* piecesOf(member ?? null, levels - 1)
  }
  yield ']'
}

function* piecesOfObject(object: object, levels: number): Generator<string> {
  const given = Object.entries(object).filter(([, member]) => member !== undefined)
  yield '{'
  for (const [index, [name, member]] of given.entries()) {
    yield `${index > 0 ? ',' : ''}${JSON.stringify(name)}:`
    yield* piecesOf(member, levels - 1)
  }
  yield '}'
}

/** A surrogate pair that is cut in two is written as two escapes with the same meaning. */
function* piecesOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += CHUNK_LENGTH) {
    yield JSON.stringify(text.slice(at, at + CHUNK_LENGTH)).slice(1, -1)
  }
  yield '"'
}
