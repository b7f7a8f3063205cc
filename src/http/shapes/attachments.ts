/** The attachments of a send request. Contents are checked as base64 and not decoded. */
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import { invalidField } from '../../errors.ts'
import type { StoredAttachment } from '../../features/messages/accept/content.ts'
import { attachedBytes } from '../../mail/compose/attachment.ts'
import { isBase64, MAX_QUICK_BASE64_LENGTH, scanBase64 } from '../../mail/compose/decode-base64.ts'
import { MAX_ATTACHMENT_FIELD_LENGTH } from '../../mail/limits.ts'
import { lineOfText } from './fields.ts'

const NOT_BASE64 = 'Must be base64 (RFC 4648), without a data: prefix'

const attachment = z
  .object({
    filename: lineOfText(MAX_ATTACHMENT_FIELD_LENGTH)
      .min(1)
      .regex(/^[^"]*$/, 'Must not contain a double quote'),
    content: z
      .string()
      .min(1)
      .refine((text) => text === '' || isLong(text) || isBase64(text), {
        error: NOT_BASE64,
        params: { code: 'invalid_string' },
      })
      .meta({ format: 'byte', description: 'base64' }),
    contentType: z
      .string()
      .min(1)
      .max(MAX_ATTACHMENT_FIELD_LENGTH)
      .regex(/^[\t\x20-\x7e]*$/, 'Must be a MIME type, in ASCII'),
    contentId: lineOfText(MAX_ATTACHMENT_FIELD_LENGTH)
      .min(1)
      .regex(/^[^<>]*$/, 'Must not contain < or >')
      .optional()
      .meta({
        description: 'Required for inline attachments; the body refers to it as cid:<contentId>',
      }),
    disposition: z.enum(['attachment', 'inline']).default('attachment'),
  })
  .superRefine(({ disposition, contentId }, context) => {
    if (disposition !== 'inline' || contentId !== undefined) return
    const message = 'An inline attachment needs a contentId'
    context.addIssue({ code: 'custom', path: ['contentId'], message })
  })
  .transform((item): StoredAttachment => ({ ...item, contentId: item.contentId ?? null }))

/** `checkLongContents` checks long contents later, in steps. */
function isLong(content: string): boolean {
  return content.length > MAX_QUICK_BASE64_LENGTH
}

export function attachmentList(limits: Config['limits']) {
  const maxBase64Length = Math.floor((limits.attachmentsMaxBytes * 4) / 3)
  return z
    .array(attachment)
    .max(limits.attachmentsMaxCount)
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
