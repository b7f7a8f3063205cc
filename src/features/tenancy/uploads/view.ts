/** An uploaded image as the API shows it. */
import { formatInstant } from '../../../base/clock.ts'
import type { Config } from '../../../config/config.ts'
import type { ListedUploadRecord, UploadRecord } from '../../../records/upload.ts'
import type { Upload } from '../../../store/schema/uploads.ts'

export function toUploadRecord({ baseUrl }: Pick<Config, 'baseUrl'>, upload: Upload): UploadRecord {
  const { name, filename, contentType, sizeBytes } = upload
  // The server stores no other types.
  const type = contentType as UploadRecord['contentType']
  return {
    url: `${baseUrl}/uploads/${name}`,
    key: name,
    filename,
    contentType: type,
    size: sizeBytes,
  }
}

export function toListedUploadRecord(
  config: Pick<Config, 'baseUrl'>,
  upload: Upload,
): ListedUploadRecord {
  const { width, height, createdAt } = upload
  return {
    ...toUploadRecord(config, upload),
    width,
    height,
    createdAt: formatInstant(createdAt),
  }
}
