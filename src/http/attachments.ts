/** The attachments of a send request (contract 1.1). Contents stay base64: checked, not decoded. */
import { z } from 'zod'
import type { Config } from '../config/config.ts'
import type { StoredAttachment } from '../features/messages/plan.ts'
import { isBase64 } from '../mail/base64-text.ts'
import { lineOfText } from './fields.ts'

const MAX_LENGTH = 255

const attachment = z
  .object({
    filename: lineOfText(MAX_LENGTH)
      .min(1)
      .regex(/^[^"]*$/, 'Must not contain a double quote'),
    content: z
      .string()
      .min(1)
      .refine((text) => text === '' || isBase64(text), {
        error: 'Must be base64 (RFC 4648), without a data: prefix',
        params: { code: 'invalid_string' },
      })
      .meta({ format: 'byte', description: 'base64' }),
    contentType: z
      .string()
      .min(1)
      .max(MAX_LENGTH)
      .regex(/^[\t\x20-\x7e]*$/, 'Must be a MIME type, in ASCII'),
    contentId: lineOfText(MAX_LENGTH)
      .min(1)
      .regex(/^[^<>]*$/, 'Must not contain < or >')
      .optional()
      .meta({ description: 'Required when inline; the body refers to it as cid:<contentId>' }),
    disposition: z.enum(['attachment', 'inline']).default('attachment'),
  })
  .superRefine(({ disposition, contentId }, context) => {
    if (disposition !== 'inline' || contentId !== undefined) return
    const message = 'An inline attachment needs a contentId'
    context.addIssue({ code: 'custom', path: ['contentId'], message })
  })
  .transform((item): StoredAttachment => ({ ...item, contentId: item.contentId ?? null }))

export function attachmentList(limits: Config['limits']) {
  const maxBase64Length = Math.floor((limits.attachmentsMaxBytes * 4) / 3)
  return z
    .array(attachment)
    .max(limits.attachmentsMaxCount)
    .superRefine((items, context) => {
      const length = items.reduce((sum, { content }) => sum + content.length, 0)
      if (length <= maxBase64Length) return
      const message = `Attachments are larger than ${limits.attachmentsMaxBytes} bytes in total`
      context.addIssue({ code: 'custom', message })
    })
}
