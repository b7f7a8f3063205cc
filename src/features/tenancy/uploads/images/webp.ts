/**
 * Cleans a WebP file (RFC 9649): lossy or lossless, still or moving. The bitstreams, the transparency,
 * the frames and the colour profile stay; EXIF data, XMP data and all other chunks go, inside frames
 * too, and all bytes after the end.
 */
import {
  brokenImage,
  type CleanImage,
  createParts,
  type ImageParts,
  requireBytes,
  requireFewBlocks,
} from './image-parts.ts'
import { isColourProfile } from './kept-metadata.ts'

const LOSSY = 'VP8 '
const LOSSLESS = 'VP8L'
const LOSSY_HEADER_BYTES = 10
const LOSSY_START = '9d012a'
const LOSSLESS_HEADER_BYTES = 5
const LOSSLESS_SIGNATURE = 0x2f
const SIDE_MASK = 0x3fff

type Chunk = { type: string; start: number; dataStart: number; dataEnd: number; end: number }
type Size = { width: number; height: number }
type Picture = Size & { parts: Chunk[] }

const CHUNKS_START = 12
const CHUNK_HEADER_BYTES = 8
const EXTENDED_BYTES = 10
const LOOPS_BYTES = 6
const FRAME_HEADER_BYTES = 16
const FLAG = { moving: 0x02, alpha: 0x10, profile: 0x20 }

/** @throws AppError VALIDATION_ERROR */
export function cleanWebp(bytes: Buffer): CleanImage {
  requireBytes(bytes, CHUNKS_START)
  // Readers stop at the size that the header gives.
  const end = CHUNK_HEADER_BYTES + bytes.readUInt32LE(4)
  requireBytes(bytes, end)
  const file = bytes.subarray(0, end)
  const chunks = [...listChunks(file, CHUNKS_START, end)]
  const [first] = chunks
  if (first === undefined) throw brokenImage('it has no picture')
  const image = first.type === 'VP8X' ? keepExtended(file, chunks) : keepSimple(file, first)
  return { contentType: 'image/webp', extension: 'webp', ...image }
}

type Kept = Size & { frames: number; parts: ImageParts }

/** Keeps the bitstream of a simple file, and nothing else. */
function keepSimple(file: Buffer, chunk: Chunk): Kept {
  if (!isBitstream(chunk.type)) throw brokenImage('it has no picture')
  const { width, height } = readBitstream(chunk.type, dataOf(file, chunk))
  const parts = createParts(file)
  parts.add(formatFileHeader(paddedSize(chunk)))
  keepChunk(parts, chunk)
  return { width, height, frames: 1, parts }
}

function keepExtended(file: Buffer, [first, ...rest]: Chunk[]): Kept {
  const header = first === undefined ? Buffer.alloc(0) : dataOf(file, first)
  if (header.length !== EXTENDED_BYTES) throw brokenImage('its header has a wrong length')
  const flags = header[0] ?? 0
  const canvas = { width: header.readUIntLE(4, 3) + 1, height: header.readUIntLE(7, 3) + 1 }
  const isMoving = (flags & FLAG.moving) !== 0
  const pictures = isMoving ? listFrames(file, rest, canvas) : [readStill(file, rest, canvas)]
  const profile = findProfile(file, rest)
  const loops = isMoving ? findLoops(rest) : undefined
  const content = createParts(file)
  if (profile !== undefined) keepChunk(content, profile)
  if (loops !== undefined) keepChunk(content, loops)
  for (const { frame, parts: own } of pictures) keepPicture(content, file, { frame, own })
  const kept = (flags & (FLAG.moving | FLAG.alpha)) | (profile === undefined ? 0 : FLAG.profile)
  const size = CHUNK_HEADER_BYTES + EXTENDED_BYTES + content.sizeBytes()
  const parts = createParts(file)
  parts.add(formatFileHeader(size))
  parts.add(formatExtended(header, kept))
  for (const part of content.list()) parts.add(part)
  return { ...canvas, frames: pictures.length, parts }
}

function* listChunks(file: Buffer, from: number, to: number): Generator<Chunk> {
  let start = from
  for (let count = 1; start < to; count += 1) {
    requireFewBlocks(count)
    const dataStart = start + CHUNK_HEADER_BYTES
    if (dataStart > to) throw brokenImage('the file is cut off')
    const dataEnd = dataStart + file.readUInt32LE(start + 4)
    if (dataEnd > to) throw brokenImage('the file is cut off')
    // Some writers leave out the padding of the last chunk.
    const end = Math.min(to, dataEnd + ((dataEnd - dataStart) % 2))
    yield { type: file.toString('latin1', start, start + 4), start, dataStart, dataEnd, end }
    start = end
  }
}

function dataOf(file: Buffer, { dataStart, dataEnd }: Chunk): Buffer {
  return file.subarray(dataStart, dataEnd)
}

type Shown = Picture & { frame: Chunk | undefined }

/** Reads the picture of an image that does not move, which must be as large as the canvas. */
function readStill(file: Buffer, chunks: readonly Chunk[], canvas: Size): Shown {
  const picture = readPicture(file, chunks)
  if (!isSameSize(picture, canvas)) throw brokenImage('it has two sizes')
  return { ...picture, frame: undefined }
}

function listFrames(file: Buffer, chunks: readonly Chunk[], canvas: Size): Shown[] {
  const frames = chunks.filter(({ type }) => type === 'ANMF')
  if (frames.length === 0) throw brokenImage('it has no picture')
  return frames.map((frame) => readFrame(file, frame, canvas))
}

function readFrame(file: Buffer, frame: Chunk, canvas: Size): Shown {
  const { dataStart, dataEnd } = frame
  const contentStart = dataStart + FRAME_HEADER_BYTES
  if (contentStart > dataEnd) throw brokenImage('a frame is cut off')
  const [x, y] = [file.readUIntLE(dataStart, 3) * 2, file.readUIntLE(dataStart + 3, 3) * 2]
  const size = {
    width: file.readUIntLE(dataStart + 6, 3) + 1,
    height: file.readUIntLE(dataStart + 9, 3) + 1,
  }
  if (x + size.width > canvas.width || y + size.height > canvas.height) {
    throw brokenImage('a frame is larger than the image')
  }
  const picture = readPicture(file, [...listChunks(file, contentStart, dataEnd)])
  if (!isSameSize(picture, size)) throw brokenImage('a frame has two sizes')
  return { ...picture, frame }
}

/** Reads the first bitstream, and before it the transparency of a lossy one. */
function readPicture(file: Buffer, chunks: readonly Chunk[]): Picture {
  const index = chunks.findIndex(({ type }) => isBitstream(type))
  const bitstream = chunks[index]
  if (bitstream === undefined) throw brokenImage('it has no picture')
  const size = readBitstream(bitstream.type, dataOf(file, bitstream))
  const alpha = chunks.slice(0, index).find(({ type }) => type === 'ALPH')
  const hasAlpha = alpha !== undefined && bitstream.type === 'VP8 '
  return { ...size, parts: hasAlpha ? [alpha, bitstream] : [bitstream] }
}

function isSameSize(one: Size, other: Size): boolean {
  return one.width === other.width && one.height === other.height
}

/** Finds the profile, which must precede the pictures. */
function findProfile(file: Buffer, chunks: readonly Chunk[]): Chunk | undefined {
  const first = chunks.findIndex(({ type }) => isBitstream(type) || ['ALPH', 'ANMF'].includes(type))
  const profile = chunks.slice(0, first).find(({ type }) => type === 'ICCP')
  if (profile === undefined) return undefined
  const data = dataOf(file, profile)
  return isColourProfile(data, data.length) ? profile : undefined
}

function findLoops(chunks: readonly Chunk[]): Chunk {
  const loops = chunks.find(({ type }) => type === 'ANIM' || type === 'ANMF')
  const isValid = loops?.type === 'ANIM' && loops.dataEnd - loops.dataStart === LOOPS_BYTES
  if (loops === undefined || !isValid) throw brokenImage('its animation is invalid')
  return loops
}

/** Keeps a picture. A frame gets a new header, because some of its chunks may be dropped. */
function keepPicture(
  parts: ImageParts,
  file: Buffer,
  { frame, own }: { frame: Chunk | undefined; own: readonly Chunk[] },
): void {
  if (frame !== undefined) {
    const size = own.reduce((sum, chunk) => sum + paddedSize(chunk), FRAME_HEADER_BYTES)
    const { dataStart } = frame
    parts.add(formatChunkHeader('ANMF', size))
    parts.add(file.subarray(dataStart, dataStart + FRAME_HEADER_BYTES))
  }
  for (const chunk of own) keepChunk(parts, chunk)
}

function keepChunk(parts: ImageParts, chunk: Chunk): void {
  const { start, dataEnd } = chunk
  parts.keep(start, dataEnd)
  if (paddedSize(chunk) > dataEnd - start) parts.add(Buffer.alloc(1))
}

/** Returns the padded size of a chunk with its header. */
function paddedSize({ start, dataEnd }: Chunk): number {
  return dataEnd - start + ((dataEnd - start) % 2)
}

function formatFileHeader(contentBytes: number): Buffer {
  const header = formatChunkHeader('RIFF', contentBytes + 4)
  return Buffer.concat([header, Buffer.from('WEBP', 'latin1')])
}

function formatExtended(header: Buffer, flags: number): Buffer {
  const data = Buffer.alloc(EXTENDED_BYTES)
  data[0] = flags
  // Copies the size of the canvas. The three bytes before the size are reserved and stay 0.
  header.copy(data, 4, 4)
  return Buffer.concat([formatChunkHeader('VP8X', EXTENDED_BYTES), data])
}

function formatChunkHeader(type: string, sizeBytes: number): Buffer {
  const header = Buffer.alloc(CHUNK_HEADER_BYTES)
  header.write(type, 0, 'latin1')
  header.writeUInt32LE(sizeBytes, 4)
  return header
}

function isBitstream(type: string): boolean {
  return type === LOSSY || type === LOSSLESS
}

/**
 * Reads the header of a bitstream, lossy (RFC 6386, section 9.1) or lossless (RFC 9649, section
 * 3.4). Returns the size in pixels.
 * @throws AppError VALIDATION_ERROR
 */
function readBitstream(type: string, data: Buffer): { width: number; height: number } {
  const size = type === LOSSY ? readLossy(data) : readLossless(data)
  if (size.width === 0 || size.height === 0) throw brokenImage('it is empty')
  return size
}

/**
 * Reads the header of a lossy picture: it is a key frame of a video, whose first part must be
 * there.
 */
function readLossy(data: Buffer) {
  if (data.length < LOSSY_HEADER_BYTES) throw invalidBitstream()
  const tag = data.readUIntLE(0, 3)
  const isKeyFrame = (tag & 1) === 0
  const firstPartBytes = tag >> 5
  const isStart = data.toString('hex', 3, 6) === LOSSY_START
  if (!isKeyFrame || !isStart || LOSSY_HEADER_BYTES + firstPartBytes > data.length)
    throw invalidBitstream()
  return { width: data.readUInt16LE(6) & SIDE_MASK, height: data.readUInt16LE(8) & SIDE_MASK }
}

function readLossless(data: Buffer) {
  if (data.length <= LOSSLESS_HEADER_BYTES || data[0] !== LOSSLESS_SIGNATURE)
    throw invalidBitstream()
  const bits = data.readUInt32LE(1)
  const version = bits >>> 29
  if (version !== 0) throw invalidBitstream()
  return { width: (bits & SIDE_MASK) + 1, height: ((bits >>> 14) & SIDE_MASK) + 1 }
}

function invalidBitstream() {
  return brokenImage('its data are invalid')
}
