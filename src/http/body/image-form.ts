/** The upload of an image as a form. The whole file is in memory, in one copy. */
import { z } from 'zod'
import type { Core } from '../../core/core.ts'
import { storeImage } from '../../features/tenancy/uploads/store-image.ts'
import { MAX_UPLOAD_BYTES } from '../../records/limits.ts'
import type { UploadRecord } from '../../records/upload.ts'
import type { ProjectCall } from '../route.ts'
import { MAX_OTHER_BYTES, readMultipart } from './multipart.ts'

/** The most bytes of a whole form. */
export const MAX_IMAGE_FORM_BYTES = MAX_UPLOAD_BYTES + MAX_OTHER_BYTES
/** The size of the first buffer. A file that outgrows its buffer gets one of twice the size. */
const FIRST_BUFFER_BYTES = 256 * 1024

export const imageForm = {
  contentType: 'multipart/form-data',
  isKept: true,
  schema: z.object({
    image: z.string().meta({
      format: 'binary',
      description:
        'JPEG, PNG, GIF or WebP; at most 10 MB and 50 million pixels, all frames counted',
    }),
  }),
}

/**
 * Stores the image of a form. A refused image leaves nothing behind.
 * @throws AppError VALIDATION_ERROR, PAYLOAD_TOO_LARGE, BAD_REQUEST, INSUFFICIENT_STORAGE,
 *   DATABASE_ERROR
 */
export async function takeImage(
  core: Pick<Core, 'store' | 'config' | 'now' | 'log'>,
  { project, stream, reportUnknown }: ProjectCall<unknown, unknown>,
): Promise<UploadRecord> {
  if (stream === undefined) throw new TypeError('the route does not take a stream')
  const content = collect()
  try {
    const { file, unknownFields } = await readMultipart(stream, {
      fileField: 'image',
      fields: [],
      maxFileBytes: MAX_UPLOAD_BYTES,
      refuse: () => undefined,
      write: async (bytes) => content.add(bytes),
    })
    reportUnknown(unknownFields.map((name) => ({ path: [], name, known: ['image'] })))
    const { filename } = file
    return await storeImage(core, { projectId: project.id, filename, bytes: content.bytes() })
  } finally {
    content.free()
  }
}

/** A buffer that grows. */
function collect() {
  let buffer = Buffer.allocUnsafeSlow(FIRST_BUFFER_BYTES)
  let sizeBytes = 0

  function grow(neededBytes: number): void {
    const larger = Buffer.allocUnsafeSlow(
      Math.min(MAX_UPLOAD_BYTES, Math.max(neededBytes, buffer.length * 2)),
    )
    buffer.copy(larger, 0, 0, sizeBytes)
    free()
    buffer = larger
  }

  /** Frees the buffer at once, because the garbage collector does not see its size. */
  function free(): void {
    if (buffer.buffer instanceof ArrayBuffer) buffer.buffer.transfer(0)
  }

  return {
    add(bytes: Uint8Array) {
      const neededBytes = sizeBytes + bytes.length
      if (neededBytes > buffer.length) grow(neededBytes)
      buffer.set(bytes, sizeBytes)
      sizeBytes = neededBytes
    },
    bytes: () => buffer.subarray(0, sizeBytes),
    free,
  }
}
