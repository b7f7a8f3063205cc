/** Images with and without their metadata, decoded by a real browser: every pixel is the same. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  exif,
  insert,
  jpegSegment,
  withMetadata,
} from '../../features/tenancy/uploads/images/metadata.ts'
import { SAMPLE_NAMES, sample } from '../../features/tenancy/uploads/images/samples.ts'
import { useService } from '../../http/service.ts'
import { useChromium } from './chromium.ts'

/** The pages of the server show no images by themselves. */
const showsImages = { bypassCSP: true }

const { service, call } = useService()
const { skip, visit } = useChromium()

describe('in Chromium', { skip }, () => {
  for (const name of SAMPLE_NAMES) {
    test(`${name}: all frames look as before`, async () => {
      const { before: given, after: kept } = await comparePixels(withMetadata(name))
      assert.equal(given.length, name.startsWith('moving') ? 3 : 1)
      // A difference of long lists of numbers is no help.
      assert.equal(JSON.stringify(kept) === JSON.stringify(given), true)
    })
  }

  test('a photo that was taken upright is shown upright', async () => {
    const data = Buffer.concat([Buffer.from('Exif\0\0'), exif(6)])
    const photo = insert(sample('jpeg'), 20, jpegSegment(0xe1, data))
    const { body } = await upload(photo)
    await visit(showsImages, async (page) => {
      await page.goto(`${service.url}/health`)
      const size = await page.evaluate(sizeOf, `${service.url}/uploads/${body.key}`)
      assert.deepEqual(size, [6, 8])
    })
  })

  test('S18: a page of another origin shows the image, and a visit of its URL runs nothing', async () => {
    const { body } = await upload(withMetadata('jpeg'))
    const url = `${service.url}/uploads/${body.key}`
    await visit(showsImages, async (page) => {
      // The same server under another name is another site.
      await page.goto(`${service.url.replace('127.0.0.1', 'localhost')}/health`)
      assert.deepEqual(await page.evaluate(sizeOf, url), [8, 6])
    })
    await visit({}, async (page) => {
      await page.goto(url)
      assert.equal(await page.evaluate('document.contentType'), 'image/jpeg')
      assert.equal(await page.evaluate('window.origin'), 'null')
    })
  })
})

function upload(bytes: Buffer) {
  return call('post', '/uploads/image').attach('image', bytes, 'photo.png')
}

/** The pixels of all frames, before and after the upload. */
async function comparePixels(given: Buffer): Promise<{ before: string[]; after: string[] }> {
  const { body, status } = await upload(given)
  assert.equal(status, 200, JSON.stringify(body))
  const served = await fetch(`${service.url}/uploads/${body.key}`)
  const kept = Buffer.from(await served.arrayBuffer())
  return visit({}, async (page) => {
    // Decoders of images exist in secure contexts only, and localhost is one.
    await page.goto(`${service.url}/health`)
    const decode = (bytes: Buffer) =>
      page.evaluate(framesOf, { base64: bytes.toString('base64'), type: String(body.contentType) })
    return { before: await decode(given), after: await decode(kept) }
  })
}

/** Runs in the page. */
async function framesOf({ base64, type }: { base64: string; type: string }): Promise<string[]> {
  const data = Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))
  // biome-ignore lint/suspicious/noExplicitAny: the types of Node do not know the decoder of browsers
  const decoder = new (globalThis as any).ImageDecoder({ data, type })
  await decoder.completed
  await decoder.tracks.ready
  const frames: string[] = []
  for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex += 1) {
    const { image } = await decoder.decode({ frameIndex })
    const pixels = new Uint8Array(image.allocationSize())
    await image.copyTo(pixels)
    frames.push(`${image.format} ${image.displayWidth} ${image.duration} ${pixels.join(',')}`)
  }
  return frames
}

/** Runs in the page. */
async function sizeOf(url: string): Promise<number[]> {
  // biome-ignore lint/suspicious/noExplicitAny: the types of Node do not know the images of browsers
  const image = new (globalThis as any).Image()
  image.src = url
  await image.decode()
  return [image.naturalWidth, image.naturalHeight]
}
