/**
 * Cleans a JPEG file (ITU-T T.81; JFIF 1.02). What is needed to show the image stays as it is: tables,
 * frame, scans, and the markers that give the colours their meaning (JFIF, Adobe, ICC profile). EXIF
 * data keep the orientation only, JFIF data lose their thumbnail. All other application data and
 * comments go, and all bytes after the end.
 *
 * Only what browsers show is accepted: baseline and progressive images of 8 bits per sample.
 */
import {
  brokenImage,
  type CleanImage,
  createParts,
  type ImageParts,
  refusedImage,
  requireBytes,
  requireFewBlocks,
} from './image-parts.ts'
import { formatOrientation, isColourProfile, readOrientation, shownSize } from './kept-metadata.ts'

type JpegFrame = { width: number; height: number; components: number }

/**
 * A segment: the bytes from its marker at `start` to `end`. `payload` lacks the marker, the length
 * and the data of a scan.
 */
type Segment = { marker: number; payload: Buffer; start: number; end: number }

type FoundSegment = {
  frame: { width: number; height: number; components: number } | undefined
  jfif: Segment | undefined
  adobe: Segment | undefined
  orientation: number | undefined
  profile: Segment[]
  scans: number
  /** The tables, the frame and the scans. */
  kept: Segment[]
}

const SOI = Buffer.from([0xff, 0xd8])
const EOI = Buffer.from([0xff, 0xd9])
const MARKER = { sof0: 0xc0, sof2: 0xc2, dht: 0xc4, eoi: 0xd9, sos: 0xda, dqt: 0xdb, dri: 0xdd }
const APP0 = 0xe0
const APP1 = 0xe1
const APP2 = 0xe2
const APP14 = 0xee
const APP15 = 0xef
const COM = 0xfe

const JFIF = 'JFIF\0'
const EXIF = 'Exif\0\0'
const PROFILE = 'ICC_PROFILE\0'
const ADOBE = 'Adobe'

/**
 * The most scans, because a viewer decodes the whole image for each. Progressive images have about
 * ten.
 */
const MAX_SCANS = 100

/** @throws AppError VALIDATION_ERROR */
export function cleanJpeg(bytes: Buffer): CleanImage {
  const found: FoundSegment = {
    ...{ frame: undefined, jfif: undefined, adobe: undefined, orientation: undefined },
    ...{ profile: [], scans: 0, kept: [] },
  }
  for (const segment of listSegments(bytes)) take(found, segment)
  const { frame, orientation = 1, scans } = found
  if (frame === undefined || scans === 0) throw brokenImage('it has no picture')
  const { width, height } = shownSize(frame, orientation)
  const parts = join(createParts(bytes), found)
  return { contentType: 'image/jpeg', extension: 'jpg', width, height, frames: 1, parts }
}

function* listSegments(bytes: Buffer): Generator<Segment> {
  let start = SOI.length
  for (let count = 1; ; count += 1) {
    requireFewBlocks(count)
    requireBytes(bytes, start + 2)
    if (bytes[start] !== 0xff) throw brokenImage('there are bytes between its segments')
    const marker = bytes[start + 1] ?? 0
    if (marker === MARKER.eoi) return
    // Any number of fill bytes may precede a marker.
    if (marker === 0xff) {
      start = endOfFill(bytes, start)
      continue
    }
    // Markers below 0xc0, and those from 0xd0 to 0xd9, belong to scans or to no JPEG.
    if (marker < MARKER.sof0 || (marker >= 0xd0 && marker < MARKER.sos)) throw unknownMarker()
    requireBytes(bytes, start + 4)
    const lengthBytes = bytes.readUInt16BE(start + 2)
    const headerEnd = start + 2 + lengthBytes
    if (lengthBytes < 2) throw brokenImage('a segment has no length')
    requireBytes(bytes, headerEnd)
    const payload = bytes.subarray(start + 4, headerEnd)
    const end = marker === MARKER.sos ? endOfScan(bytes, headerEnd) : headerEnd
    yield { marker, payload, start, end }
    start = end
  }
}

function endOfFill(bytes: Buffer, start: number): number {
  let at = start
  while (bytes[at + 1] === 0xff) at += 1
  return at
}

/**
 * Returns the end of the coded data that begin at `start`: the next marker that does not belong to
 * the data.
 */
function endOfScan(bytes: Buffer, start: number): number {
  for (let at = start; at + 1 < bytes.length; at += 1) {
    if (bytes[at] !== 0xff) continue
    const next = bytes[at + 1] ?? 0
    const isData = next === 0 || next === 0xff || (next >= 0xd0 && next <= 0xd7)
    if (!isData) return at
  }
  throw brokenImage('the file is cut off')
}

function take(found: FoundSegment, segment: Segment): void {
  const { marker, payload } = segment
  if (marker === COM) return
  if (marker >= APP0 && marker <= APP15) {
    takeApplicationData(found, segment)
    return
  }
  if (marker >= MARKER.sof0 && marker <= MARKER.sof2) {
    if (found.frame !== undefined) throw brokenImage('it has two frames')
    found.frame = readFrame(payload)
  } else if (marker === MARKER.sos) {
    requireScan(payload, found.frame)
    found.scans += 1
    if (found.scans > MAX_SCANS) throw refusedImage(`The image has more than ${MAX_SCANS} scans`)
  } else if (!isTable(marker, payload)) throw unknownMarker()
  found.kept.push(segment)
}

function isTable(marker: number, payload: Buffer): boolean {
  if (marker === MARKER.dqt) return isQuantizationTables(payload)
  if (marker === MARKER.dht) return isHuffmanTables(payload)
  return marker === MARKER.dri && payload.length === 2
}

/** Keeps the first segment of each kind, as viewers do, and all segments of the colour profile. */
function takeApplicationData(found: FoundSegment, segment: Segment): void {
  const { marker, payload } = segment
  if (marker === APP0 && begins(payload, JFIF) && payload.length >= 14) found.jfif ??= segment
  if (marker === APP1 && begins(payload, EXIF)) {
    found.orientation ??= readOrientation(payload.subarray(EXIF.length))
  }
  if (marker === APP2 && begins(payload, PROFILE)) found.profile.push(segment)
  if (marker === APP14 && begins(payload, ADOBE) && payload.length >= 12) found.adobe ??= segment
}

function begins(payload: Buffer, name: string): boolean {
  return payload.toString('latin1', 0, name.length) === name
}

function join(parts: ImageParts, found: FoundSegment): ImageParts {
  const { jfif, adobe, orientation = 1, profile, kept } = found
  parts.add(SOI)
  if (jfif !== undefined) {
    // Keeps version, units and densities, and adds a thumbnail of 0 x 0.
    const data = [jfif.payload.subarray(0, 12), Buffer.alloc(2)]
    parts.add(applicationData(APP0, Buffer.concat(data)))
  }
  if (orientation !== 1) {
    const data = [Buffer.from(EXIF, 'latin1'), formatOrientation(orientation)]
    parts.add(applicationData(APP1, Buffer.concat(data)))
  }
  if (isProfile(profile)) for (const { start, end } of profile) parts.keep(start, end)
  if (adobe !== undefined) parts.add(applicationData(APP14, adobe.payload.subarray(0, 12)))
  for (const { start, end } of kept) parts.keep(start, end)
  parts.add(EOI)
  return parts
}

function applicationData(marker: number, data: Buffer): Buffer {
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(data.length + 2, 2)
  return Buffer.concat([head, data])
}

/**
 * Whether the segments form one colour profile: numbered from 1, each with the number of all
 * (ICC.1, annex B.4).
 */
function isProfile(segments: readonly Segment[]): boolean {
  const head = PROFILE.length + 2
  const isNumbered = segments.every(
    ({ payload }, index) =>
      payload[PROFILE.length] === index + 1 && payload[PROFILE.length + 1] === segments.length,
  )
  const [first] = segments
  if (first === undefined || !isNumbered) return false
  const sizeBytes = segments.reduce((sum, { payload }) => sum + payload.length - head, 0)
  return isColourProfile(first.payload.subarray(head), sizeBytes)
}

function unknownMarker() {
  return refusedImage('The image is not a baseline or progressive JPEG')
}

/** Checks the header of a frame (ITU-T T.81, section B.2.2). @throws AppError VALIDATION_ERROR */
function readFrame(payload: Buffer): JpegFrame {
  const components = payload[5] ?? 0
  if (payload.length < 6 || payload.length !== 6 + components * 3) {
    throw brokenImage('its frame header has a wrong length')
  }
  if (payload[0] !== 8) throw refusedImage('The image has another precision than 8 bits')
  if (![1, 3, 4].includes(components)) throw refusedImage('The image has unknown colours')
  const height = payload.readUInt16BE(1)
  const width = payload.readUInt16BE(3)
  if (width === 0 || height === 0) throw brokenImage('it is empty')
  for (let at = 6; at < payload.length; at += 3) {
    const sampling = payload[at + 1] ?? 0
    const isValid = isSampling(sampling >> 4) && isSampling(sampling & 15)
    if (!isValid || (payload[at + 2] ?? 0) > 3) throw brokenImage('its frame header is invalid')
  }
  return { width, height, components }
}

function isSampling(factor: number): boolean {
  return factor >= 1 && factor <= 4
}

/** Checks the header of a scan (section B.2.3). @throws AppError VALIDATION_ERROR */
function requireScan(payload: Buffer, frame: JpegFrame | undefined): void {
  if (frame === undefined) throw brokenImage('a scan comes before the frame')
  const components = payload[0] ?? 0
  const isValid = components >= 1 && components <= frame.components
  if (!isValid || payload.length !== 4 + components * 2)
    throw brokenImage('a scan header is invalid')
}

/** Whether the segment is quantization tables from the first byte to the last (section B.2.4). */
function isQuantizationTables(payload: Buffer): boolean {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    at += 1 + 64 * ((head >> 4) + 1)
  }
  return payload.length > 0 && at === payload.length
}

/** Whether the segment is Huffman tables from the first byte to the last (section B.2.4). */
function isHuffmanTables(payload: Buffer): boolean {
  let at = 0
  while (at < payload.length) {
    const head = payload[at] ?? 0
    if (head >> 4 > 1 || (head & 15) > 3) return false
    const symbols = payload.subarray(at + 1, at + 17).reduce((sum, count) => sum + count, 0)
    if (symbols > 256) return false
    at += 17 + symbols
  }
  return payload.length > 0 && at === payload.length
}
