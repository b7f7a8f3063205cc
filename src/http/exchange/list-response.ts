/**
 * Responses that are lists. Their JSON is made item by item while it is sent, so that only a slice
 * of a list is in memory. A short list is complete before its response begins, so an error in it
 * becomes an error response. An error after the response has begun cuts the connection.
 */

import type { Listing } from '../../features/ground/listing.ts'
import { nextTurn } from '../../work/loop-turns.ts'
import { type HttpResponse, json } from '../response.ts'
import type { RawCall } from '../route.ts'
import { isShort, JSON_PIECE_LENGTH, jsonLengthOf, jsonPiecesOf } from './json-pieces.ts'

/** The memory of a list while it is sent: its lines, pieces of its text in several buffers, and small slices. */
export const LIST_ANSWER_BYTES = 512 * 1024
/** The part of LIST_ANSWER_BYTES for all but the slices. */
const PIECES_BYTES = 256 * 1024

/** The memory of an export: a page of rows, and a piece of its text. */
export const EXPORT_ANSWER_BYTES = 2 * 1024 * 1024

/** The most bytes of the JSON of a page. A page has at least one item, however large. */
export const MAX_PAGE_BYTES = 2 * 1024 * 1024
/** The part of MAX_PAGE_BYTES for all but the items. */
const FRAME_BYTES = 4 * 1024

/** The levels of an item that are serialized piece by piece: the item, and the objects in it. */
const ITEM_LEVELS = 2

/** A list of up to two pieces is sent as a whole. */
const MAX_WHOLE_ANSWER_LENGTH = 2 * JSON_PIECE_LENGTH

type Memory = Pick<RawCall, 'reserve'>
/**
 * `before`: fields of the object before the list; `copy`: a second name, under which the list is
 * sent again. The copy of a page repeats its text. The copy of a whole list reads the rows again,
 * so a row that is deleted meanwhile is missing in it.
 */
type Named<Item, End> = {
  name: string
  listing: Listing<Item, End>
  before?: object
  copy?: string
}

/** `{[name]: […], …end}`, with fewer items than the listing has if they are large. */
export function pageResponse<Item, End extends object>(
  call: Memory,
  page: Named<Item, End>,
): Promise<HttpResponse> {
  return listResponse(call, { ...page, maxBytes: MAX_PAGE_BYTES - FRAME_BYTES })
}

/**
 * Does the same as `pageResponse`, but makes the whole page before it is sent, for items whose size
 * is known only when they are made. The caller has reserved memory for the items; afterwards the
 * response holds only the memory of the page.
 */
export async function builtPageResponse<Item, End extends object>(
  page: Named<Item, End>,
): Promise<HttpResponse> {
  const texts: Buffer[] = []
  const list = { ...page, maxBytes: MAX_PAGE_BYTES - FRAME_BYTES }
  for await (const piece of toPieces([], textOf(list))) texts.push(Buffer.from(piece))
  return { ...json(200, null), body: new Uint8Array(Buffer.concat(texts)) }
}

/** `{…before, [name]: […], …end}` with all items. */
export function wholeResponse<Item, End extends object>(
  call: Memory,
  list: Named<Item, End>,
): Promise<HttpResponse> {
  return listResponse(call, { ...list, maxBytes: Number.POSITIVE_INFINITY })
}

/** `[…]` with all items. */
export function arrayResponse<Item>(
  call: Memory,
  listing: Listing<Item, object>,
): Promise<HttpResponse> {
  return listResponse(call, { name: null, listing, maxBytes: Number.POSITIVE_INFINITY })
}

/** `name`: null for a bare array. */
type List<Item, End> = Omit<Named<Item, End>, 'name'> & { name: string | null; maxBytes: number }

async function listResponse<Item, End extends object>(
  call: Memory,
  list: List<Item, End>,
): Promise<HttpResponse> {
  // Slices and `before` count twice: as rows and as text.
  const ofBefore = list.before === undefined ? 0 : jsonLengthOf(list.before)
  const ofCopy = isKept(list) ? Math.max(list.maxBytes / 2, list.listing.sliceBytes) : 0
  const needed = PIECES_BYTES + 2 * (list.listing.sliceBytes + ofBefore) + ofCopy
  await call.reserve(Math.max(LIST_ANSWER_BYTES, needed))
  const texts = textOf(list)
  const begun: string[] = []
  let length = 0
  while (length < MAX_WHOLE_ANSWER_LENGTH) {
    const next = await texts.next()
    if (next.done) return { ...json(200, null), body: begun.join('') }
    begun.push(next.value)
    length += next.value.length
  }
  return { ...json(200, null), body: toPieces(begun, texts) }
}

/**
 * Whether the text of the items is kept for the copy: a page with a copy keeps it, because reading the page
 * again could give other rows.
 */
function isKept<Item, End>({ copy, maxBytes }: List<Item, End>): boolean {
  return copy !== undefined && Number.isFinite(maxBytes)
}

async function* textOf<Item, End extends object>(
  list: List<Item, End>,
): AsyncGenerator<string, undefined> {
  const { name, listing, before, copy, maxBytes } = list
  const kept: string[] | undefined = isKept(list) ? [] : undefined
  yield name === null ? '[' : '{'
  if (before !== undefined) yield* membersOf(before)
  if (name !== null) yield `${JSON.stringify(name)}:[`
  const isPage = Number.isFinite(maxBytes)
  const room = { maxBytes: maxBytes / (copy === undefined ? 1 : 2), kept }
  const end = isPage ? yield* fittingItems(listing, room) : yield* allItems(listing)
  yield ']'
  if (name === null) return
  if (copy !== undefined) {
    yield `,${JSON.stringify(copy)}:[`
    if (kept !== undefined) yield* kept
    else yield* allItems(listing)
    yield ']'
  }
  yield `${fieldsOf(end)}}`
}

/** `kept`: collects the texts for the copy. */
type Room = { maxBytes: number; kept: string[] | undefined }

/**
 * Yields the items that fit into the page. The length of an item is known once its JSON is
 * complete.
 */
async function* fittingItems<Item, End>(
  listing: Listing<Item, End>,
  { maxBytes, kept }: Room,
): AsyncGenerator<string, End> {
  const walk = listing.walk()
  let bytes = 0
  let count = 0
  try {
    let next = await walk.next()
    while (!next.done) {
      const item = await serialize(next.value)
      bytes += item.bytes
      const isTaken = count === 0 || bytes <= maxBytes
      if (isTaken) {
        const texts = count > 0 ? [',', ...item.texts] : item.texts
        kept?.push(...texts)
        yield* texts
        count += 1
      }
      next = await walk.next(isTaken)
    }
    return next.value
  } finally {
    await walk.return(undefined as never)
  }
}

/** Yields all items. A large item is sent text by text, with one text in memory at a time. */
async function* allItems<Item, End>(listing: Listing<Item, End>): AsyncGenerator<string, End> {
  const walk = listing.walk()
  let count = 0
  try {
    let next = await walk.next()
    while (!next.done) {
      if (count > 0) yield ','
      yield* textsOf(next.value)
      count += 1
      next = await walk.next(true)
    }
    return next.value
  } finally {
    await walk.return(undefined as never)
  }
}

/**
 * Serializes an item; a large item takes several turns of the event loop. `bytes`: the length with
 * a comma.
 */
async function serialize(item: unknown): Promise<{ texts: string[]; bytes: number }> {
  const texts: string[] = []
  let bytes = 1
  for (const text of textsOf(item)) {
    if (texts.length > 0) await nextTurn()
    texts.push(text)
    bytes += Buffer.byteLength(text)
  }
  return { texts, bytes }
}

/** The JSON of an item in texts of about JSON_PIECE_LENGTH. */
function* textsOf(item: unknown): Generator<string> {
  if (isShort(item)) {
    yield JSON.stringify(item)
    return
  }
  let text = ''
  for (const piece of jsonPiecesOf(item, ITEM_LEVELS)) {
    text += piece
    if (text.length < JSON_PIECE_LENGTH) continue
    yield text
    text = ''
  }
  yield text
}

/** Yields the JSON of an object's fields, each with a comma behind it. */
function* membersOf(before: object): Generator<string> {
  for (const [name, value] of Object.entries(before)) {
    if (value === undefined) continue
    yield `${JSON.stringify(name)}:`
    yield* jsonPiecesOf(value, ITEM_LEVELS)
    yield ','
  }
}

/** The fields of an object with a comma before them, to follow other fields. */
function fieldsOf(end: object): string {
  const text = JSON.stringify(end).slice(1, -1)
  return text === '' ? '' : `,${text}`
}

/** Joins short texts into pieces. */
async function* toPieces(
  begun: readonly string[],
  texts: AsyncGenerator<string>,
): AsyncGenerator<Uint8Array> {
  try {
    let piece = begun.join('')
    for (;;) {
      if (piece.length >= JSON_PIECE_LENGTH) {
        yield Buffer.from(piece)
        piece = ''
      }
      const next = await texts.next()
      if (next.done) break
      piece += next.value
    }
    if (piece !== '') yield Buffer.from(piece)
  } finally {
    await texts.return(undefined)
  }
}
