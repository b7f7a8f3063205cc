import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import { AppError } from '../../../../../src/base/errors.ts'
import { cleanImage } from '../../../../../src/features/tenancy/uploads/images/clean.ts'
import { isColourProfile } from '../../../../../src/features/tenancy/uploads/images/kept-metadata.ts'
import {
  exif,
  gifExtension,
  insert,
  jpegSegment,
  pngChunk,
  riffChunk,
  SECRET,
  webpFile,
  withMetadata,
} from './metadata.ts'
import { SAMPLE_NAMES, type SampleName, sample } from './samples.ts'

async function clean(bytes: Buffer) {
  const { parts, ...facts } = await cleanImage(bytes)
  const file = Buffer.concat(parts.list())
  assert.equal(file.length, parts.sizeBytes())
  return { ...facts, file }
}

/** The text of the refusal. */
async function refusal(bytes: Buffer): Promise<string> {
  const error = await cleanImage(bytes).then(
    () => assert.fail('the image was accepted'),
    (thrown) => thrown,
  )
  assert.ok(error instanceof AppError, String(error?.stack))
  assert.equal(error.code, 'VALIDATION_ERROR')
  assert.equal(error.status, 422)
  assert.equal(error.fields?.[0]?.field, 'image')
  return error.fields?.[0]?.message ?? ''
}

const types = {
  jpeg: ['image/jpeg', 'jpg'],
  png: ['image/png', 'png'],
  gif: ['image/gif', 'gif'],
  webp: ['image/webp', 'webp'],
}

function typeOf(name: SampleName) {
  const found = Object.entries(types).find(([key]) => name.toLowerCase().includes(key))
  return found?.[1] ?? []
}

for (const name of SAMPLE_NAMES) {
  test(`${name}: an image without metadata stays as it is, to the byte`, async () => {
    const { file, ...facts } = await clean(sample(name))
    assert.ok(file.equals(sample(name)))
    const [contentType, extension] = typeOf(name)
    const frames = name.startsWith('moving') ? 3 : 1
    assert.deepEqual(facts, { contentType, extension, width: 8, height: 6, frames })
  })

  test(`${name}: S18: metadata and bytes after the end are taken out`, async () => {
    const dirty = withMetadata(name)
    assert.ok(dirty.includes(SECRET))
    const { file } = await clean(dirty)
    assert.equal(file.includes(SECRET), false)
    assert.equal(file.includes('Sunset'), false)
    // Simple WebP files had to become extended ones to carry metadata.
    if (!/webp/i.test(name)) assert.ok(file.equals(sample(name)))
    assert.ok((await clean(file)).file.equals(file), 'a cleaned file is clean')
  })
}

describe('JPEG', () => {
  const jpeg = sample('jpeg')

  test('the orientation stays, as the only EXIF data, and the size is the one that is shown', async () => {
    for (let orientation = 2; orientation <= 8; orientation += 1) {
      const data = Buffer.concat([Buffer.from('Exif\0\0'), exif(orientation)])
      const { file, width, height } = await clean(insert(jpeg, 20, jpegSegment(0xe1, data)))
      const kept = Buffer.from(
        `ffe100224578696600004d4d002a00000008000101120003000000010${'00'.slice(1)}0${orientation}000000000000`,
        'hex',
      )
      assert.ok(file.includes(kept), file.toString('hex'))
      assert.equal(file.length, jpeg.length + kept.length)
      assert.deepEqual([width, height], orientation >= 5 ? [6, 8] : [8, 6])
      assert.ok((await clean(file)).file.equals(file))
    }
  })

  test('the thumbnail in JFIF data goes', async () => {
    assert.equal(jpeg.toString('latin1', 6, 10), 'JFIF')
    const data = Buffer.concat([jpeg.subarray(6, 18), Buffer.from([7, 1]), Buffer.from(SECRET)])
    const given = Buffer.concat([jpeg.subarray(0, 2), jpegSegment(0xe0, data), jpeg.subarray(20)])
    assert.ok((await clean(given)).file.equals(jpeg))
  })

  test('broken EXIF data go', async () => {
    const whole = exif(6)
    const broken = [
      ...[Buffer.alloc(0), whole.subarray(0, 7), whole.subarray(0, 20)],
      ...[exif(0), exif(9), Buffer.from('II*\0\xff\xff\xff\xff', 'latin1')],
    ]
    for (const data of broken) {
      const segment = jpegSegment(0xe1, Buffer.concat([Buffer.from('Exif\0\0'), data]))
      assert.ok((await clean(insert(jpeg, 20, segment))).file.equals(jpeg))
    }
  })

  const profile = Buffer.alloc(200, 'p')
  profile.writeUInt32BE(profile.length, 0)
  profile.write('acsp', 36)
  const profilePart = (number: number, count: number, data: Buffer) =>
    jpegSegment(
      0xe2,
      Buffer.concat([Buffer.from('ICC_PROFILE\0'), Buffer.from([number, count]), data]),
    )

  test('a colour profile stays, in any number of parts; other data of that name go', async () => {
    const whole = profilePart(1, 1, profile)
    const two = Buffer.concat([
      profilePart(1, 2, profile.subarray(0, 150)),
      profilePart(2, 2, profile.subarray(150)),
    ])
    for (const segments of [whole, two]) {
      const given = insert(jpeg, 20, segments)
      assert.ok((await clean(given)).file.equals(given))
    }
    const wrong = [
      profilePart(1, 1, Buffer.from(SECRET)),
      profilePart(1, 2, profile),
      profilePart(2, 1, profile),
      profilePart(1, 1, Buffer.concat([profile, Buffer.from(SECRET)])),
    ]
    for (const segments of wrong) {
      assert.ok((await clean(insert(jpeg, 20, segments))).file.equals(jpeg))
    }
  })

  test('the marker that gives CMYK colours their meaning stays, without further data', async () => {
    const cmyk = sample('cmykJpeg')
    const at = cmyk.indexOf('Adobe') - 4
    assert.ok(at > 0)
    const longer = jpegSegment(
      0xee,
      Buffer.concat([cmyk.subarray(at + 4, at + 16), Buffer.from(SECRET)]),
    )
    const given = Buffer.concat([cmyk.subarray(0, at), longer, cmyk.subarray(at + 16)])
    assert.ok((await clean(given)).file.equals(cmyk))
  })

  const frameAt = jpeg.indexOf(Buffer.from([0xff, 0xc0]))
  const changed = (at: number, value: number) => {
    const copy = Buffer.from(jpeg)
    copy[at] = value
    return copy
  }

  test('broken and unusual images are refused', async () => {
    const emptyHeight = changed(frameAt + 6, 0)
    const wrong: [string, Buffer, RegExp][] = [
      ['no height', emptyHeight, /empty/],
      ['no width', changed(frameAt + 8, 0), /empty/],
      ['12 bits', changed(frameAt + 4, 12), /precision/],
      ['lossless', changed(frameAt + 1, 0xc3), /baseline or progressive/],
      ['arithmetic', changed(frameAt + 1, 0xc9), /baseline or progressive/],
      ['two frames', insert(jpeg, frameAt, jpeg.subarray(frameAt, frameAt + 19)), /two frames/],
      ['a second image begins', insert(jpeg, 20, Buffer.from([0xff, 0xd8])), /baseline/],
      ['bytes between segments', insert(jpeg, 20, Buffer.from('<svg/>')), /between/],
      ['no end', jpeg.subarray(0, -2), /cut off/],
      ['tables of text', insert(jpeg, 20, jpegSegment(0xdb, SECRET)), /baseline/],
      ['codes of text', insert(jpeg, 20, jpegSegment(0xc4, SECRET)), /baseline/],
      ['no picture', Buffer.from([0xff, 0xd8, 0xff, 0xd9]), /picture/],
      ['a segment without a length', insert(jpeg, 20, Buffer.from('fffe0001', 'hex')), /length/],
    ]
    for (const [name, bytes, expected] of wrong) assert.match(await refusal(bytes), expected, name)
  })

  test('S18: thousands of scans or segments are refused', async () => {
    const scan = Buffer.from('ffda000c03010002110311003f00', 'hex')
    const at = jpeg.indexOf(Buffer.from([0xff, 0xda]))
    assert.match(await refusal(insert(jpeg, at, Buffer.concat(Array(101).fill(scan)))), /scans/)
    const empty = Buffer.from('fffe0002', 'hex')
    assert.match(
      await refusal(insert(jpeg, 20, Buffer.concat(Array(20_000).fill(empty)))),
      /blocks/,
    )
  })
})

describe('PNG', () => {
  const png = sample('png')
  const header = (change: { width?: number; height?: number; type?: number }) => {
    const { width = 8, height = 6, type = 2 } = change
    const data = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 8, type, 0, 0, 0])
    data.writeUInt32BE(width, 0)
    data.writeUInt32BE(height, 4)
    return pngChunk('IHDR', data)
  }
  const signature = png.subarray(0, 8)
  const file = (...chunks: Buffer[]) => Buffer.concat([signature, ...chunks])
  const data = pngChunk('IDAT', deflateSync(Buffer.alloc(6 * 25)))
  const end = pngChunk('IEND', '')
  const iccp = (compressed: Buffer, name = 'ICC') =>
    pngChunk('iCCP', Buffer.concat([Buffer.from(`${name}\0\0`), compressed]))
  const profileOf = (sizeBytes: number) => {
    const bytes = Buffer.alloc(sizeBytes, 'p')
    bytes.writeUInt32BE(sizeBytes, 0)
    bytes.write('acsp', 36)
    return bytes
  }

  test('the chunks that decide on the colours stay', async () => {
    const profile = iccp(deflateSync(profileOf(200)))
    const given = file(
      ...[header({}), pngChunk('gAMA', Buffer.alloc(4, 1)), pngChunk('cHRM', Buffer.alloc(32, 1))],
      ...[pngChunk('sRGB', '\0'), profile, pngChunk('sBIT', Buffer.from([8, 8, 8]))],
      ...[pngChunk('bKGD', Buffer.alloc(6)), pngChunk('tRNS', Buffer.alloc(6))],
      ...[pngChunk('pHYs', Buffer.alloc(9, 1)), data, data, end],
    )
    assert.ok((await clean(given)).file.equals(given))
  })

  test('the orientation stays, as the only EXIF data, and the size is the one that is shown', async () => {
    const given = file(
      ...[header({}), pngChunk('eXIf', exif(6)), pngChunk('eXIf', exif(3)), data, end],
    )
    const cleaned = await clean(given)
    const tiff = '4d4d002a0000000800010112000300000001000600000000' + '0000'
    const kept = pngChunk('eXIf', Buffer.from(tiff, 'hex'))
    assert.ok(cleaned.file.equals(file(header({}), kept, data, end)))
    assert.deepEqual([cleaned.width, cleaned.height], [6, 8])
    const broken = file(header({}), pngChunk('eXIf', SECRET), data, end)
    assert.ok((await clean(broken)).file.equals(file(header({}), data, end)))
  })

  test('the name of a colour profile goes', async () => {
    const profile = (name: string) => iccp(deflateSync(profileOf(200)), name)
    const given = await clean(file(header({}), profile(SECRET), data, end))
    assert.ok(given.file.equals(file(header({}), profile('ICC'), data, end)))
  })

  test('S8: a colour profile of 4 MB stays; larger ones, other data and broken ones go', async () => {
    const plain = file(header({}), data, end)
    const cleaned = async (compressed: Buffer) =>
      (await clean(file(header({}), iccp(compressed), data, end))).file
    const largest = deflateSync(profileOf(4 * 1024 * 1024))
    assert.ok((await cleaned(largest)).equals(file(header({}), iccp(largest), data, end)))
    const rest = Buffer.concat([largest, Buffer.from(SECRET)])
    assert.ok((await cleaned(rest)).equals(file(header({}), iccp(largest), data, end)))
    const wrong = {
      'too large by a byte': deflateSync(profileOf(4 * 1024 * 1024 + 1)),
      'a bomb': deflateSync(Buffer.alloc(16 * 1024 * 1024)),
      'no profile': deflateSync(Buffer.from(SECRET)),
      'another size than it says': deflateSync(Buffer.concat([profileOf(200), Buffer.alloc(9)])),
      'cut off': largest.subarray(0, -1),
      'not compressed': profileOf(200),
      nothing: Buffer.alloc(0),
    }
    for (const [name, compressed] of Object.entries(wrong)) {
      assert.ok((await cleaned(compressed)).equals(plain), name)
    }
  })

  test('chunks in the wrong place, twice or of a wrong length go', async () => {
    const gamma = pngChunk('gAMA', Buffer.alloc(4, 1))
    const space = pngChunk('pHYs', Buffer.alloc(9, 1))
    const given = file(
      ...[header({}), gamma, gamma, pngChunk('sRGB', SECRET), pngChunk('tRNS', Buffer.alloc(4))],
      ...[data, space, end],
    )
    assert.ok((await clean(given)).file.equals(file(header({}), gamma, data, end)))
  })

  test('broken and unusual images are refused', async () => {
    const badSum = Buffer.from(png)
    badSum[png.length - 1] = 0
    const palette = pngChunk('PLTE', Buffer.alloc(9))
    const wrong: [string, Buffer, RegExp][] = [
      ['no width', file(header({ width: 0 }), data, end), /empty/],
      ['no height', file(header({ height: 0 }), data, end), /empty/],
      ['a colour type of no PNG', file(header({ type: 5 }), data, end), /header/],
      ['a wrong checksum', badSum, /checksum/],
      ['no end', png.subarray(0, -12), /cut off/],
      ['a chunk beyond the end', png.subarray(0, -13), /cut off/],
      ['no data', file(header({}), end), /no picture/],
      ['two pieces of data', file(header({}), data, pngChunk('tIME', 'x'), data, end), /places/],
      [
        'an unknown critical chunk',
        file(header({}), pngChunk('EVIL', SECRET), data, end),
        /unknown/,
      ],
      ['no palette', file(header({ type: 3 }), data, end), /palette/],
      ['a palette after the data', file(header({}), data, palette, end), /palette/],
      ['half a colour', file(header({}), pngChunk('PLTE', 'ab'), data, end), /palette/],
      ['an end with a text', file(header({}), data, pngChunk('IEND', SECRET)), /end/],
    ]
    for (const [name, bytes, expected] of wrong) assert.match(await refusal(bytes), expected, name)
  })

  test('an animation that contradicts itself is refused', async () => {
    const moving = sample('movingPng')
    const controlAt = moving.indexOf('acTL') - 4
    const without = Buffer.concat([moving.subarray(0, controlAt), moving.subarray(controlAt + 20)])
    const numbered = (frames: number) => {
      const data = Buffer.alloc(8)
      data.writeUInt32BE(frames, 0)
      return insert(without, controlAt, pngChunk('acTL', data))
    }
    assert.match(await refusal(numbered(2)), /animation/)
    assert.match(await refusal(numbered(0)), /animation/)
    assert.match(await refusal(numbered(1_000_000)), /animation/)
    // The first picture, as a viewer without animations shows it.
    const { file: still, frames } = await clean(without)
    assert.equal(frames, 1)
    assert.equal(still.includes('fdAT'), false)
    assert.equal(still.includes('fcTL'), false)
  })
})

describe('GIF', () => {
  const gif = sample('movingGif')

  test('the number of loops stays, once and without further data', async () => {
    const { file } = await clean(gif)
    assert.ok(file.includes('NETSCAPE2.0'))
    const again = gifExtension(0xff, 'NETSCAPE2.0', '\x01\x05\0', SECRET)
    assert.ok((await clean(insert(gif, gif.length - 1, again))).file.equals(file))
  })

  test('broken images are refused', async () => {
    const still = sample('gif')
    const imageAt = still.indexOf(Buffer.from('2c00000000', 'hex'))
    const changed = (at: number, value: number) => {
      const copy = Buffer.from(still)
      copy[at] = value
      return copy
    }
    const wrong: [string, Buffer, RegExp][] = [
      ['no width', changed(6, 0), /empty/],
      ['a frame without a width', changed(imageAt + 5, 0), /frame is empty/],
      ['a frame beyond the image', changed(imageAt + 1, 1), /larger/],
      ['no trailer', still.subarray(0, -1), /cut off/],
      ['no picture', Buffer.concat([still.subarray(0, imageAt), Buffer.from(';')]), /picture/],
      ['a script', Buffer.from('GIF89a=1;alert(document.domain)//'), /cut off|unknown|picture/],
      ['an unknown block', insert(still, imageAt, Buffer.from('zz')), /unknown/],
    ]
    for (const [name, bytes, expected] of wrong) assert.match(await refusal(bytes), expected, name)
  })
})

describe('WebP', () => {
  const webp = sample('movingWebp')

  test('unknown chunks inside frames go', async () => {
    const at = webp.indexOf('ANMF')
    const size = webp.readUInt32LE(at + 4)
    const inner = Buffer.concat([webp.subarray(at + 8, at + 8 + size), riffChunk('EXIF', SECRET)])
    const chunks = [webp.subarray(12, at), riffChunk('ANMF', inner), webp.subarray(at + 8 + size)]
    assert.ok((await clean(webpFile(...chunks))).file.equals(webp))
  })

  test('the flags of the header say what is there', async () => {
    const { file } = await clean(withMetadata('transparentWebp'))
    assert.equal(file[20], 0x10)
    assert.ok(file.equals(sample('transparentWebp')))
  })

  test('a colour profile stays; other data of that name go', async () => {
    const still = sample('transparentWebp')
    const profile = Buffer.alloc(131, 'p')
    profile.writeUInt32BE(profile.length, 0)
    profile.write('acsp', 36)
    const withProfile = (data: Buffer, flags: number) => {
      const copy = insert(still.subarray(12), 18, riffChunk('ICCP', data))
      copy[8] = flags
      return webpFile(copy)
    }
    const given = withProfile(profile, 0x30)
    assert.ok((await clean(given)).file.equals(given))
    assert.ok((await clean(withProfile(Buffer.from(SECRET), 0x30))).file.equals(still))
  })

  test('broken images are refused', async () => {
    const lossy = sample('lossyWebp')
    const changed = (bytes: Buffer, at: number, value: number) => {
      const copy = Buffer.from(bytes)
      copy[at] = value
      return copy
    }
    const wrong: [string, Buffer, RegExp][] = [
      ['a canvas of another size', changed(sample('transparentWebp'), 24, 99), /two sizes/],
      ['a frame beyond the canvas', changed(webp, webp.indexOf('ANMF') + 8, 99), /larger/],
      ['a frame of another size', changed(webp, webp.indexOf('ANMF') + 14, 3), /two sizes/],
      ['no width', changed(changed(lossy, 26, 0), 27, 0), /empty/],
      ['no start code', changed(lossy, 23, 0), /data/],
      ['a cut file', lossy.subarray(0, -2), /cut off/],
      ['a chunk beyond the end', changed(lossy, 17, 9), /cut off/],
      ['only metadata', webpFile(riffChunk('EXIF', SECRET)), /picture/],
    ]
    for (const [name, bytes, expected] of wrong) assert.match(await refusal(bytes), expected, name)
  })
})

describe('other files', () => {
  const wrong: [string, Buffer][] = [
    ['SVG', Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>')],
    ['SVG with a declaration', Buffer.from('<?xml version="1.0"?><svg onload="alert(1)"/>')],
    ['HTML', Buffer.from('<!doctype html><script>alert(1)</script>')],
    ['a PDF', Buffer.from('%PDF-1.7\n')],
    ['a bitmap', Buffer.from('BM\x46\0\0\0\0\0\0\0', 'latin1')],
    ['AVIF', Buffer.from('\0\0\0\x20ftypavif\0\0\0\0avifmif1miaf', 'latin1')],
    ['TIFF', Buffer.from('II*\0\x08\0\0\0', 'latin1')],
    ['text before a JPEG', Buffer.concat([Buffer.from('\n'), sample('jpeg')])],
  ]
  for (const [name, bytes] of wrong) {
    test(`S18: ${name} is refused`, async () => {
      assert.equal(await refusal(bytes), 'Must be a JPEG, PNG, GIF or WebP image')
    })
  }

  test('an empty file is refused', async () => {
    assert.match(await refusal(Buffer.alloc(0)), /empty/)
  })

  test('S18: a picture whose pixels would fill the memory of its viewer is refused', async () => {
    const png = Buffer.from(sample('png'))
    const huge = Buffer.alloc(13)
    png.copy(huge, 0, 16, 29)
    huge.writeUInt32BE(10_000, 0)
    huge.writeUInt32BE(5_001, 4)
    const bomb = Buffer.concat([png.subarray(0, 8), pngChunk('IHDR', huge), png.subarray(33)])
    assert.match(await refusal(bomb), /50000000 pixels/)
    const gif = Buffer.from(sample('movingGif'))
    gif.writeUInt16LE(5_000, 6)
    gif.writeUInt16LE(3_334, 8)
    assert.match(await refusal(gif), /all frames counted/)
  })
})

describe('every truncation and every changed byte', () => {
  const fuzzed: SampleName[] = ['progressiveJpeg', 'movingPng', 'gif', 'transparentWebp']

  /** One by turns where a checksum of each chunk finds either alike. */
  function masksOf(name: SampleName, at: number): number[] {
    const both = [0xff, 1 << (at % 8)]
    return name === 'movingPng' ? both.slice(at % 2).slice(0, 1) : both
  }

  /** Files that a second cleaning did not change. */
  const stable = new Set<string>()

  /** Refused, or clean: a second cleaning changes nothing. */
  async function assertSafe(bytes: Buffer, what: string): Promise<boolean> {
    try {
      const { file, width, height } = await clean(bytes)
      assert.equal(file.includes('Sunset'), false, `${what}: metadata are left`)
      const key = file.toString('latin1')
      if (!stable.has(key)) assert.ok((await clean(file)).file.equals(file), `${what}: not clean`)
      stable.add(key)
      assert.ok(width > 0 && height > 0)
      return true
    } catch (error) {
      if (error instanceof AppError && error.fields?.[0]?.field === 'image') return false
      throw error
    }
  }

  for (const name of fuzzed) {
    test(`${name}: is refused, or leaves a well-formed file without metadata`, async () => {
      const dirty = withMetadata(name)
      for (let length = 0; length < dirty.length; length += 1) {
        await assertSafe(dirty.subarray(0, length), `${name} cut to ${length}`)
      }
      for (let at = 0; at < dirty.length; at += 1) {
        for (const mask of masksOf(name, at)) {
          const copy = Buffer.from(dirty)
          copy[at] = (copy[at] ?? 0) ^ mask
          await assertSafe(copy, `${name} ^ ${mask} at ${at}`)
        }
      }
    })

    test(`${name}: every cut before the end is refused`, async () => {
      const whole = sample(name)
      for (let length = 0; length < whole.length; length += 1) {
        assert.equal(await assertSafe(whole.subarray(0, length), `cut to ${length}`), false)
      }
    })
  }
})

describe('a colour profile', () => {
  test('S8: of more than 4 MB goes in every format', () => {
    const head = Buffer.alloc(128)
    head.write('acsp', 36)
    for (const [sizeBytes, isKept] of [
      [4 * 1024 * 1024, true],
      [4 * 1024 * 1024 + 1, false],
    ] as const) {
      head.writeUInt32BE(sizeBytes, 0)
      assert.equal(isColourProfile(head, sizeBytes), isKept)
    }
  })
})
