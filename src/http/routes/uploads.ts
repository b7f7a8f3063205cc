/** Images for emails: uploaded by a project, served to everyone who has their URL. */
import { createImageOpener } from '../../features/tenancy/uploads/image-files.ts'
import { deleteImage, listImages } from '../../features/tenancy/uploads/project-images.ts'
import { uploadExample, uploadPage, uploadQuery, uploadRecord } from '../../records/upload.ts'
import { imageForm, MAX_IMAGE_FORM_BYTES, takeImage } from '../body/image-form.ts'
import { isKnownTag } from '../exchange/if-none-match.ts'
import { LIST_ANSWER_BYTES, pageResponse } from '../exchange/list-response.ts'
import { json, noContent } from '../response.ts'
import { openOperation, projectOperation, type RouteDeps } from '../route.ts'

const shared = { tag: 'Uploads', tagText: 'Images for emails, which the server serves.' } as const
const params = { name: '`key` of the image' }

/**
 * The bytes at a URL never change, so caches may keep them. Webmail of other sites may show the
 * image. The image cannot run scripts.
 */
const IMAGE_HEADERS = {
  'content-disposition': 'inline',
  'content-security-policy': "sandbox; default-src 'none'",
  'cache-control': 'public, max-age=31536000, immutable',
  'cross-origin-resource-policy': 'cross-origin',
} as const

/** Two pieces of a file, so that the readers of all connections leave memory for others. */
const IMAGE_ANSWER_BYTES = 128 * 1024

export const store = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Upload an image',
    description:
      'JPEG, PNG, GIF or WebP, by its bytes: names and declared types do not matter. EXIF, XMP and IPTC data, comments, and bytes after the end of the image are taken out; the pixels, the colour profile and the orientation of a JPEG or PNG stay. The same image again has the same URL. 413 for more than 10 MB, and when the images of the project would take more than the server allows.',
    takesStream: imageForm,
    maxBodyBytes: MAX_IMAGE_FORM_BYTES,
    responses: { 200: { description: 'Stored', schema: uploadRecord } },
    refusals: [404],
    example: () => ({
      request: { image: '(the bytes of logo.png)' },
      status: 200,
      response: uploadExample,
    }),
    handle: async (call) => json(200, await takeImage(core, call)),
  })

export const list = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'List uploaded images, newest first',
    query: uploadQuery,
    answerBytes: LIST_ANSWER_BYTES,
    responses: { 200: { description: 'A page', schema: uploadPage } },
    example: () => ({
      query: { limit: '1' },
      status: 200,
      response: {
        data: [{ ...uploadExample, width: 8, height: 6, createdAt: '2026-11-22T09:30:00.000Z' }],
        cursor: null,
        hasMore: false,
        total: 1,
      },
    }),
    handle: async (call) => {
      const listing = await listImages(core, { projectId: call.project.id, ...call.query })
      return pageResponse(call, { name: 'data', listing })
    },
  })

export const remove = ({ core }: RouteDeps) =>
  projectOperation({
    ...shared,
    summary: 'Delete an uploaded image',
    description: 'Emails that show it, also those that were sent, show a gap from now on.',
    params,
    responses: { 204: { description: 'Deleted' } },
    refusals: [404],
    example: () => ({ params: { name: uploadExample.key }, status: 204 }),
    handle: async ({ project, params: { name = '' } }) => {
      await deleteImage(core, { projectId: project.id, name })
      return noContent()
    },
  })

export const serve = ({ core }: RouteDeps) => {
  const openImage = createImageOpener(core)
  return openOperation({
    ...shared,
    summary: 'Show an uploaded image',
    answerBytes: IMAGE_ANSWER_BYTES,
    params,
    responses: {
      200: { description: 'The image', contentType: 'image/*' },
      304: { description: 'The client has the image already' },
    },
    refusals: [404, 429, 503],
    example: () => ({ params: { name: uploadExample.key }, status: 200 }),
    handle: async ({ params: { name = '' }, incoming }) => {
      const image = await openImage(name)
      const { contentType, sizeBytes } = image
      const etag = `"${name}"`
      const headers = { ...IMAGE_HEADERS, etag }
      if (isKnownTag(incoming.headers['if-none-match'], etag)) {
        return { status: 304, body: '', headers }
      }
      const content = { 'content-type': contentType, 'content-length': String(sizeBytes) }
      // HEAD reads the file as well, so that it answers like GET when the file is lost.
      const read = await image.read()
      const body = incoming.method === 'HEAD' ? '' : read
      return { status: 200, body, headers: { ...headers, ...content } }
    },
  })
}
