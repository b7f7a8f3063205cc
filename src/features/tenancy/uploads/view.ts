/** An uploaded image as the API shows it. */
import { formatInstant } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import type { Upload } from '../../../store/schema/uploads.ts'

export type UploadView = {
  url: string
  /** The last part of the URL. */
  key: string
  filename: string
  contentType: string
  /** Bytes. */
  size: number
}

/** `width`, `height`: in pixels. */
export type ListedUpload = UploadView & { width: number; height: number; createdAt: string }

export function toUploadView({ baseUrl }: Pick<Config, 'baseUrl'>, upload: Upload): UploadView {
  const { name, filename, contentType, sizeBytes } = upload
  return { url: `${baseUrl}/uploads/${name}`, key: name, filename, contentType, size: sizeBytes }
}

export function toListedUpload(config: Pick<Config, 'baseUrl'>, upload: Upload): ListedUpload {
  const { width, height, createdAt } = upload
  return {
    ...toUploadView(config, upload),
    width,
    height,
    createdAt: formatInstant(createdAt),
  }
}
