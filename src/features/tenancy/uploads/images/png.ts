/**
 * Cleans a PNG file (W3C PNG, third edition), which may move (APNG). The chunks that are needed to
 * show the image stay, if they stand where viewers look for them and have the length that they must
 * have. All others go: texts, times, and chunks that this file does not know. EXIF data keep the
 * orientation only, which browsers apply as in a JPEG. All bytes after the end go. The checksum of
 * every chunk must be right.
 */
import { crc32, inflateSync } from 'node:zlib'
import {
  brokenImage,
  type CleanImage,
  createParts,
  type ImageParts,
  refusedImage,
  requireBytes,
  requireFewBlocks,
} from './image-parts.ts'
import {
  formatOrientation,
  isColourProfile,
  MAX_PROFILE_BYTES,
  readOrientation,
  shownSize,
} from './kept-metadata.ts'
import { type Animation, openAnimation } from './png-animation.ts'

type Chunk = { type: string; data: Buffer; start: number; end: number }

/**
 * The result of zlib with the option `info`, which the types of node:zlib lack. `bytesWritten`: the
 * size of the compressed data.
 */
type Inflated = { buffer: Buffer; engine: { bytesWritten: number } }

type Header = { width: number; height: number; colourType: number }

type ChunkPlace = 'before the palette' | 'before the data' | 'in the data' | 'after the data'

type PngState = {
  parts: ImageParts
  header: Header
  /** The number of entries of the palette; 0 without a palette. */
  paletteSize: number
  place: ChunkPlace
  /** The types of the ancillary chunks that were kept. */
  seen: Set<string>
  animation: Animation | undefined
  orientation: number
}

const SIGNATURE_BYTES = 8
/** The bytes of a chunk besides its data: length, type and checksum. */
const CHUNK_OVERHEAD_BYTES = 12
const MAX_SIDE = 2 ** 31 - 1

/** The allowed bit depths by colour type. */
const DEPTHS: Readonly<Record<number, readonly number[]>> = {
  0: [1, 2, 4, 8, 16],
  2: [8, 16],
  3: [1, 2, 4, 8],
  4: [8, 16],
  6: [8, 16],
}
const INDEXED = 3

/**
 * The ancillary chunks that are kept: whether the palette may come before, and which lengths are
 * allowed.
 */
const ANCILLARY: Readonly<
  Record<string, { isAfterPalette: boolean; isLength(length: number, state: PngState): boolean }>
> = {
  gAMA: { isAfterPalette: false, isLength: (length) => length === 4 },
  cHRM: { isAfterPalette: false, isLength: (length) => length === 32 },
  sRGB: { isAfterPalette: false, isLength: (length) => length === 1 },
  cICP: { isAfterPalette: false, isLength: (length) => length === 4 },
  sBIT: { isAfterPalette: false, isLength: (length, state) => length === significantBytes(state) },
  pHYs: { isAfterPalette: true, isLength: (length) => length === 9 },
  bKGD: { isAfterPalette: true, isLength: (length, state) => length === backgroundBytes(state) },
  tRNS: { isAfterPalette: true, isLength: isTransparencyLength },
}

/** @throws AppError VALIDATION_ERROR */
export function cleanPng(bytes: Buffer): CleanImage {
  const chunks = listChunks(bytes)
  const { value: first } = chunks.next()
  if (first === undefined || first.type !== 'IHDR') throw brokenImage('it has no header')
  const header = readHeader(first.data)
  const parts = createParts(bytes)
  parts.keep(0, first.end)
  const state: PngState = {
    ...{ parts, header, paletteSize: 0, place: 'before the palette' },
    ...{ seen: new Set(), animation: undefined, orientation: 1 },
  }
  for (const chunk of chunks) take(state, chunk)
  const frames = state.animation?.finish() ?? 1
  const { width, height } = shownSize(header, state.orientation)
  return { contentType: 'image/png', extension: 'png', width, height, frames, parts }
}

function* listChunks(bytes: Buffer): Generator<Chunk, undefined> {
  let start = SIGNATURE_BYTES
  for (let count = 1; ; count += 1) {
    requireFewBlocks(count)
    requireBytes(bytes, start + CHUNK_OVERHEAD_BYTES)
    const end = start + CHUNK_OVERHEAD_BYTES + bytes.readUInt32BE(start)
    requireBytes(bytes, end)
    const type = bytes.toString('latin1', start + 4, start + 8)
    if (!/^[A-Za-z]{4}$/.test(type)) throw brokenImage('a chunk has no name')
    if (crc32(bytes.subarray(start + 4, end - 4)) !== bytes.readUInt32BE(end - 4)) {
      throw brokenImage('a checksum is wrong')
    }
    yield { type, data: bytes.subarray(start + 8, end - 4), start, end }
    if (type === 'IEND') return
    start = end
  }
}

function readHeader(data: Buffer): Header {
  if (data.length !== 13) throw brokenImage('its header has a wrong length')
  const width = data.readUInt32BE(0)
  const height = data.readUInt32BE(4)
  const [depth = 0, colourType = 0, compression, filter, interlace = 0] = data.subarray(8)
  const isKnown = compression === 0 && filter === 0 && interlace <= 1
  if (!isKnown || DEPTHS[colourType]?.includes(depth) !== true) {
    throw brokenImage('its header is invalid')
  }
  if (width === 0 || height === 0) throw brokenImage('it is empty')
  if (width > MAX_SIDE || height > MAX_SIDE) throw brokenImage('its header is invalid')
  return { width, height, colourType }
}

function take(state: PngState, chunk: Chunk): void {
  const { type } = chunk
  if (state.place === 'in the data' && type !== 'IDAT') state.place = 'after the data'
  if (type === 'PLTE') takePalette(state, chunk)
  else if (type === 'IDAT') takeData(state, chunk)
  else if (type === 'IEND') takeEnd(state, chunk)
  else if (type === 'acTL' || type === 'fcTL' || type === 'fdAT') takeAnimation(state, chunk)
  else if (type === 'iCCP') takeProfile(state, chunk)
  else if (type === 'eXIf') takeExif(state, chunk)
  else if (isCritical(type)) throw refusedImage('The image has an unknown kind of chunk')
  else takeAncillary(state, chunk)
}

/**
 * Whether the chunk is critical. A viewer cannot show an image with a critical chunk that it does
 * not know.
 */
function isCritical(type: string): boolean {
  return type[0] === type[0]?.toUpperCase()
}

function takePalette(state: PngState, { data, start, end }: Chunk): void {
  const { place, header, parts } = state
  if (place !== 'before the palette') throw brokenImage('its palette is in the wrong place')
  const size = data.length / 3
  const isAllowed = [2, INDEXED, 6].includes(header.colourType)
  if (!isAllowed || !Number.isInteger(size) || size < 1 || size > 256) {
    throw brokenImage('its palette is invalid')
  }
  state.paletteSize = size
  state.place = 'before the data'
  parts.keep(start, end)
}

function takeData(state: PngState, { start, end }: Chunk): void {
  const { header, paletteSize, place, parts, animation } = state
  if (place === 'after the data') throw brokenImage('its data are in several places')
  if (header.colourType === INDEXED && paletteSize === 0) throw brokenImage('it has no palette')
  if (place !== 'in the data') animation?.beginData()
  state.place = 'in the data'
  parts.keep(start, end)
}

function takeEnd({ place, parts }: PngState, { data, start, end }: Chunk): void {
  if (place !== 'after the data') throw brokenImage('it has no picture')
  if (data.length > 0) throw brokenImage('its end has a length')
  parts.keep(start, end)
}

/**
 * Takes a chunk of an animation. Without an `acTL` before the data, such chunks mean nothing and
 * are dropped.
 */
function takeAnimation(state: PngState, { type, data, start, end }: Chunk): void {
  const { place, header, parts } = state
  if (type === 'acTL') {
    if (place === 'after the data') return
    if (state.animation !== undefined) throw brokenImage('it has two animations')
    state.animation = openAnimation(data, header)
  } else if (state.animation === undefined) return
  else if (type === 'fcTL') state.animation.beginFrame(data)
  else if (place !== 'after the data') throw brokenImage('a frame comes before the first picture')
  else state.animation.addData(data)
  parts.keep(start, end)
}

/** Keeps the profile without its name, which is a text of the maker. */
function takeProfile({ place, seen, parts }: PngState, { data }: Chunk): void {
  const nameEnd = data.indexOf(0)
  const isNamed = nameEnd >= 1 && nameEnd <= 79 && data[nameEnd + 1] === 0
  if (place !== 'before the palette' || seen.has('iCCP') || !isNamed) return
  seen.add('iCCP')
  const compressed = withoutRest(data.subarray(nameEnd + 2))
  if (compressed === undefined) return
  parts.add(formatChunk('iCCP', [Buffer.from('ICC\0\0'), compressed]))
}

/**
 * Returns the zlib stream of a profile without bytes after its end; undefined if the stream holds
 * no profile.
 */
function withoutRest(data: Buffer): Buffer | undefined {
  try {
    // Bounds the inflated size, because viewers inflate all of it: a few kilobytes could take
    // gigabytes of their memory.
    const options = { maxOutputLength: MAX_PROFILE_BYTES, info: true }
    const { buffer: profile, engine } = inflateSync(data, options) as unknown as Inflated
    return isColourProfile(profile, profile.length)
      ? data.subarray(0, engine.bytesWritten)
      : undefined
  } catch {
    return undefined
  }
}

/** Keeps the first chunk of EXIF data; later ones are dropped. */
function takeExif(state: PngState, { data }: Chunk): void {
  const { seen, parts } = state
  if (seen.has('eXIf')) return
  seen.add('eXIf')
  state.orientation = readOrientation(data)
  if (state.orientation === 1) return
  parts.add(formatChunk('eXIf', [formatOrientation(state.orientation)]))
}

function formatChunk(type: string, data: readonly Buffer[]): Buffer {
  const content = Buffer.concat([Buffer.from(type), ...data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(content.length - type.length, 0)
  numbers.writeUInt32BE(crc32(content), 4)
  return Buffer.concat([numbers.subarray(0, 4), content, numbers.subarray(4)])
}

function takeAncillary(state: PngState, { type, data, start, end }: Chunk): void {
  const { place, seen, parts } = state
  const rule = Object.hasOwn(ANCILLARY, type) ? ANCILLARY[type] : undefined
  if (rule === undefined || seen.has(type) || !rule.isLength(data.length, state)) return
  const isInPlace =
    place === 'before the palette' || (place === 'before the data' && rule.isAfterPalette)
  if (!isInPlace) return
  seen.add(type)
  parts.keep(start, end)
}

function significantBytes({ header }: PngState): number {
  return { 0: 1, 2: 3, 3: 3, 4: 2, 6: 4 }[header.colourType] ?? 0
}

function backgroundBytes({ header }: PngState): number {
  return { 0: 2, 2: 6, 3: 1, 4: 2, 6: 6 }[header.colourType] ?? 0
}

/**
 * Whether the length fits. In an indexed image the chunk follows the palette, and has at most one
 * byte for each entry.
 */
function isTransparencyLength(length: number, { header, paletteSize }: PngState): boolean {
  if (header.colourType === INDEXED) return length >= 1 && length <= paletteSize
  return length === { 0: 2, 2: 6 }[header.colourType]
}
