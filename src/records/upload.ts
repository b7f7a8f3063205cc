/**
 * Uploaded images in the API: the record of an upload, its form in lists, and the pages of the
 * list.
 */
import { z } from 'zod'
import { instant } from './fields.ts'
import { page, pageParameters } from './page.ts'
import { IMAGE_TYPES } from './words.ts'

const uploadFields = {
  url: z.string(),
  key: z.string().meta({ description: 'The last part of the URL' }),
  filename: z.string().meta({
    description: 'As the client named the file: in this upload, and in the list in its first one',
  }),
  contentType: z.enum(IMAGE_TYPES),
  size: z.int().meta({ description: 'Bytes, without what was taken out' }),
}

export const uploadRecord = z.object(uploadFields).meta({ id: 'Upload' })

export type UploadRecord = z.output<typeof uploadRecord>

const listedUploadRecord = z
  .object({
    ...uploadFields,
    width: z.int().meta({ description: 'Pixels' }),
    height: z.int().meta({ description: 'Pixels' }),
    createdAt: instant,
  })
  .meta({ id: 'ListedUpload' })

export type ListedUploadRecord = z.output<typeof listedUploadRecord>

export const uploadPage = page(listedUploadRecord).meta({ id: 'UploadPage' })

export const uploadQuery = z.object({
  ...pageParameters,
})

export const uploadExample: UploadRecord = {
  url: 'http://localhost:8080/uploads/06fae2f938e9b245a5cda862a88441d9.png',
  key: '06fae2f938e9b245a5cda862a88441d9.png',
  filename: 'logo.png',
  contentType: 'image/png',
  size: 98,
}
