/** Adds what cameras, editors and attackers add to image files. */
import { crc32 } from 'node:zlib'
import { type SampleName, sample } from './samples.ts'

/** In all that is added. */
export const SECRET = 'Sunset Boulevard 10086'

const text = (value: string) => Buffer.from(value, 'latin1')

/** A sample with metadata of all kinds, and bytes after its end. */
export function withMetadata(name: SampleName): Buffer {
  const image = sample(name)
  return Buffer.concat([addTo(image, name), text(`<script>${SECRET}</script>`)])
}

function addTo(image: Buffer, name: SampleName): Buffer {
  if (/jpeg/i.test(name)) return insert(image, 2, jpegMetadata())
  if (/png/i.test(name)) return insert(image, 33, pngMetadata())
  if (/gif/i.test(name)) return insert(image, image.length - 1, gifMetadata())
  return addToWebp(image)
}

export function insert(bytes: Buffer, at: number, added: Buffer): Buffer {
  return Buffer.concat([bytes.subarray(0, at), added, bytes.subarray(at)])
}

export function jpegSegment(marker: number, data: Buffer | string): Buffer {
  const bytes = typeof data === 'string' ? text(data) : data
  const head = Buffer.from([0xff, marker, 0, 0])
  head.writeUInt16BE(bytes.length + 2, 2)
  return Buffer.concat([head, bytes])
}

function jpegMetadata(): Buffer {
  return Buffer.concat([
    jpegSegment(0xe0, `JFXX\0${SECRET}`),
    jpegSegment(0xe1, Buffer.concat([text('Exif\0\0'), exif(1)])),
    jpegSegment(0xe1, `http://ns.adobe.com/xap/1.0/\0${SECRET}`),
    jpegSegment(0xe2, `MPF\0${SECRET}`),
    jpegSegment(0xed, `Photoshop 3.0\0${SECRET}`),
    jpegSegment(0xef, SECRET),
    jpegSegment(0xfe, SECRET),
  ])
}

/** EXIF data with an orientation and a description, little-endian. */
export function exif(orientation: number): Buffer {
  const tiff = Buffer.alloc(8 + 2 + 2 * 12 + 4)
  tiff.write('II*\0', 0, 'latin1')
  tiff.writeUInt32LE(8, 4)
  tiff.writeUInt16LE(2, 8)
  const entry = (at: number, [tag, type, count, value]: [number, number, number, number]) => {
    tiff.writeUInt16LE(tag, at)
    tiff.writeUInt16LE(type, at + 2)
    tiff.writeUInt32LE(count, at + 4)
    tiff.writeUInt32LE(value, at + 8)
  }
  entry(10, [0x010e, 2, SECRET.length, tiff.length])
  entry(22, [0x0112, 3, 1, orientation])
  return Buffer.concat([tiff, text(SECRET)])
}

export function pngChunk(type: string, data: Buffer | string): Buffer {
  const content = Buffer.concat([text(type), typeof data === 'string' ? text(data) : data])
  const numbers = Buffer.alloc(8)
  numbers.writeUInt32BE(content.length - 4, 0)
  numbers.writeUInt32BE(crc32(content), 4)
  return Buffer.concat([numbers.subarray(0, 4), content, numbers.subarray(4)])
}

function pngMetadata(): Buffer {
  return Buffer.concat([
    pngChunk('tEXt', `Comment\0${SECRET}`),
    pngChunk('zTXt', `Comment\0\0${SECRET}`),
    pngChunk('iTXt', `Comment\0\0\0\0\0${SECRET}`),
    pngChunk('eXIf', exif(1)),
    pngChunk('tIME', Buffer.alloc(7)),
    pngChunk('gAMA', SECRET),
    pngChunk('prVt', SECRET),
  ])
}

export function gifExtension(label: number, ...blocks: string[]): Buffer {
  const framed = blocks.map((block) => Buffer.concat([Buffer.from([block.length]), text(block)]))
  return Buffer.concat([Buffer.from([0x21, label]), ...framed, Buffer.alloc(1)])
}

function gifMetadata(): Buffer {
  return Buffer.concat([
    gifExtension(0xfe, SECRET),
    gifExtension(0xff, 'XMP DataXMP', SECRET),
    Buffer.from('21f904000a000000', 'hex'),
    gifExtension(0x01, '\0\0\0\0\x08\0\x06\0\x01\x01\0\x01', SECRET),
  ])
}

export function riffChunk(type: string, data: Buffer | string): Buffer {
  const bytes = typeof data === 'string' ? text(data) : data
  const head = Buffer.alloc(8)
  head.write(type, 0, 'latin1')
  head.writeUInt32LE(bytes.length, 4)
  return Buffer.concat([head, bytes, Buffer.alloc(bytes.length % 2)])
}

export function webpFile(...chunks: Buffer[]): Buffer {
  return riffChunk('RIFF', Buffer.concat([text('WEBP'), ...chunks]))
}

/** Makes a simple file an extended one. */
function addToWebp(image: Buffer): Buffer {
  const isExtended = image.toString('latin1', 12, 16) === 'VP8X'
  const chunks = image.subarray(isExtended ? 30 : 12)
  const header = isExtended ? Buffer.from(image.subarray(20, 30)) : Buffer.alloc(10)
  if (!isExtended) {
    header.writeUIntLE(7, 4, 3)
    header.writeUIntLE(5, 7, 3)
  }
  header[0] = (header[0] ?? 0) | 0x0c
  return webpFile(
    ...[riffChunk('VP8X', header), riffChunk('prVt', SECRET), chunks],
    ...[riffChunk('EXIF', exif(6)), riffChunk('XMP ', SECRET)],
  )
}
