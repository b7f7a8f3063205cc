/**
 * Replies of JSON that may be large: a page of emails or templates has their bodies. What is large is
 * made piece by piece while it is sent, so that nobody waits for the whole of it.
 */
import { setImmediate as othersTurn } from 'node:timers/promises'
import { type HttpResponse, json } from '../response.ts'

/** Characters that are made at a stretch: milliseconds. */
const STRETCH = 256 * 1024
/** A page, its lists, their items, what an item has, texts in that. Below, values are small. */
const LEVELS = 4

export function largeJson(status: number, value: unknown): HttpResponse {
  const stretches = stretchesOf(value)
  const first = stretches.next().value ?? ''
  const second = stretches.next().value
  const { headers } = json(status, null)
  if (second === undefined) return { status, headers, body: first }
  return { status, headers, body: inTurns([first, second], stretches) }
}

async function* inTurns(
  begun: readonly string[],
  rest: Iterable<string>,
): AsyncGenerator<Uint8Array> {
  for (const stretch of begun) yield Buffer.from(stretch)
  for (const stretch of rest) {
    yield Buffer.from(stretch)
    await othersTurn()
  }
}

function* stretchesOf(value: unknown): Generator<string, undefined> {
  let made = ''
  for (const piece of piecesOf(value, LEVELS)) {
    made += piece
    if (made.length < STRETCH) continue
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

/** A pair of surrogates that is cut in two is written as two escapes, which mean the same. */
function* piecesOfText(text: string): Generator<string> {
  yield '"'
  for (let at = 0; at < text.length; at += STRETCH) {
    yield JSON.stringify(text.slice(at, at + STRETCH)).slice(1, -1)
  }
  yield '"'
}
