/**
 * The attachments of a send request. Their contents are checked to be base64, and are not decoded.
 */
import { setImmediate } from 'node:timers/promises'
import mime from 'mime'
import { z } from 'zod'
import { invalidField } from '../base/errors.ts'
import type { Config } from '../config/config.ts'
import type { StoredAttachment } from '../features/mail/messages/accept/content.ts'
import { attachedBytes } from '../formats/compose/attachment.ts'
import {
  isBase64,
  isDataUri,
  MAX_QUICK_BASE64_LENGTH,
  readDataUri,
  scanBase64,
} from '../formats/compose/decode-base64.ts'
import { parseContentType } from '../formats/compose/parameters.ts'
import { MAX_ATTACHMENT_FIELD_LENGTH } from '../formats/limits.ts'
import { lineOfText } from '../records/fields.ts'

type AttachmentLimits = Pick<Config['limits'], 'attachmentsMaxBytes' | 'attachmentsMaxCount'>

/** The most characters of all percent-encoded `data:` URIs of a request together. */
const MAX_ENCODED_LENGTH = 64 * 1024
const TOO_LONG_ENCODED = `Percent-encoded data: URIs may have at most ${MAX_ENCODED_LENGTH} characters in a request; use base64`

const NOT_BASE64 = 'Must be base64 (RFC 4648), or a data: URI'

/** The type of a file whose name has no known extension. */
const UNKNOWN_TYPE = 'application/octet-stream'

const contentType = z
  .string()
  .min(1)
  .max(MAX_ATTACHMENT_FIELD_LENGTH)
  .regex(/^[\t\x20-\x7e]*$/, 'Must be a MIME type, in ASCII')

const content = z
  .string()
  .min(1)
  .refine((text) => text === '' || isDataUri(text) || isContent(text), {
    error: NOT_BASE64,
    params: { code: 'invalid_string' },
  })
  .meta({
    format: 'byte',
    description: 'base64, or a `data:` URI, whose media type counts where `contentType` is missing',
  })

const attachment = z
  .object({
    filename: lineOfText(MAX_ATTACHMENT_FIELD_LENGTH)
      .min(1)
      .regex(/^[^"]*$/, 'Must not contain a double quote'),
    content,
    contentType: contentType.optional().meta({
      description: 'By default the type of the `data:` URI, or the one that the file name tells',
    }),
    contentId: lineOfText(MAX_ATTACHMENT_FIELD_LENGTH)
      .min(1)
      .regex(/^[^<>]*$/, 'Must not contain < or >')
      .optional()
      .meta({
        description: 'Required for inline attachments; the body refers to it as cid:<contentId>',
      }),
    disposition: z
      .enum(['attachment', 'inline', 'alternative'])
      .optional()
      .meta({
        description:
          '`alternative`: another form of the text, the default of a calendar (`text/calendar` with its ' +
          '`method`). A file that the body refers to by `cid:` is inline in any case',
      }),
  })
  .superRefine(({ disposition, contentId }, context) => {
    if (disposition !== 'inline' || contentId !== undefined) return
    const message = 'An inline attachment needs a contentId'
    context.addIssue({ code: 'custom', path: ['contentId'], message })
  })

type GivenAttachment = z.output<typeof attachment>

export function attachmentList(limits: AttachmentLimits) {
  const maxBase64Length = Math.floor((limits.attachmentsMaxBytes * 4) / 3)
  return z
    .array(attachment)
    .max(limits.attachmentsMaxCount)
    .transform(unpackAll)
    .superRefine((items, context) => {
      if (attachedBytes(items) <= maxBase64Length) return
      const message = `Attachments are larger than ${limits.attachmentsMaxBytes} bytes in total`
      context.addIssue({ code: 'custom', message })
    })
}

/** Checks the long contents in steps, with other work in between. @throws AppError VALIDATION_ERROR */
export async function checkLongContents(attachments: readonly StoredAttachment[]): Promise<void> {
  for (const [index, { content }] of attachments.entries()) {
    if (!isLong(content)) continue
    const scan = scanBase64(content)
    for (let end = 0; end < content.length; ) {
      end += MAX_QUICK_BASE64_LENGTH
      scan.advance(end)
      await setImmediate()
    }
    if (scan.isBase64()) continue
    throw invalidField(`attachments.${index}.content`, 'invalid_string', NOT_BASE64)
  }
}

/**
 * Whether the content is base64. A long content passes here: `checkLongContents` checks it later.
 */
function isContent(content: string): boolean {
  return isLong(content) || isBase64(content)
}

/**
 * Turns the items into stored attachments. The lengths of all encoded `data:` URIs are added up before the
 * first is decoded.
 */
function unpackAll(
  items: readonly GivenAttachment[],
  context: z.RefinementCtx,
): StoredAttachment[] {
  const uris = items.map(({ content }) => (isDataUri(content) ? readDataUri(content) : undefined))
  let encoded = 0
  for (const [index, uri] of uris.entries()) {
    encoded += uri?.encodedLength ?? 0
    if (encoded <= MAX_ENCODED_LENGTH) continue
    refuseContent(context, { index, code: 'too_big', message: TOO_LONG_ENCODED })
    return []
  }
  return items.map((item, index) => {
    if (!isDataUri(item.content)) return toStored(item, { content: item.content, mediaType: null })
    const { mediaType = null } = uris[index] ?? {}
    const content = uris[index]?.decode()
    if (content === undefined || !isContent(content)) {
      refuseContent(context, { index, code: 'invalid_string', message: NOT_BASE64 })
    }
    return toStored(item, { content: content ?? '', mediaType })
  })
}

function refuseContent(
  context: z.RefinementCtx,
  { index, code, message }: { index: number; code: string; message: string },
): void {
  context.addIssue({ code: 'custom', path: [index, 'content'], message, params: { code } })
}

function toStored(
  item: GivenAttachment,
  { content, mediaType }: { content: string; mediaType: string | null },
): StoredAttachment {
  const type = item.contentType ?? typeOf(mediaType) ?? typeByName(item.filename)
  return {
    ...item,
    content,
    contentType: type,
    contentId: item.contentId ?? null,
    disposition: item.disposition ?? (isInvitation(type) ? 'alternative' : 'attachment'),
  }
}

/** Whether the content is so long that `checkLongContents` checks it, in steps. */
function isLong(content: string): boolean {
  return content.length > MAX_QUICK_BASE64_LENGTH
}

/**
 * Returns the media type, with its parameters if the field `contentType` allows them; undefined if
 * the text is no media type.
 */
function typeOf(mediaType: string | null): string | undefined {
  if (mediaType === null) return undefined
  const type = parseContentType(mediaType)?.type
  return contentType.safeParse(mediaType).success ? type && mediaType : type
}

function typeByName(filename: string): string {
  const type = filename.includes('.') ? mime.getType(filename) : null
  const isCarried = type !== null && !/^(?:message\/(?!rfc822$)|multipart\/)/.test(type)
  return isCarried ? type : UNKNOWN_TYPE
}

/**
 * Whether the type is a calendar invitation. Mail programs act on an invitation only if it is an
 * alternative of the text (RFC 6047 section 2.4).
 */
function isInvitation(type: string): boolean {
  const parsed = parseContentType(type)
  return parsed?.type === 'text/calendar' && parsed.parameters.has('method')
}
