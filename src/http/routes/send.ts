/**
 * `POST /v1/send`: the shape of a send request. `acceptOnce` checks the fields that depend on the
 * project's data, such as the sender domain, the template and subscriptions.
 */
import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { formatInstant } from '../../clock.ts'
import type { Config } from '../../config/config.ts'
import { invalidField } from '../../errors.ts'
import { type AcceptedMessage, acceptOnce } from '../../features/messages/accept/accept-message.ts'
import type { StoredAttachment } from '../../features/messages/accept/content.ts'
import { attachedBytes } from '../../mail/compose/attachment.ts'
import { isHeaderName, isRefusedHeader, REFUSED_HEADERS } from '../../mail/compose/custom-header.ts'
import { isBase64, MAX_QUICK_BASE64_LENGTH, scanBase64 } from '../../mail/compose/decode-base64.ts'
import { parseContentType } from '../../mail/compose/parameters.ts'
import {
  MAX_ATTACHMENT_FIELD_LENGTH,
  MAX_HEADER_VALUE_LENGTH,
  MAX_HEADERS,
  MAX_SUBJECT_LENGTH,
} from '../../mail/limits.ts'
import { json } from '../response.ts'
import { DEFAULT_BODY_BYTES, projectOperation, type RouteDeps } from '../route.ts'
import {
  againAtTopLevel,
  describedMailbox,
  displayName,
  emailAddress,
  id,
  instant,
  lineOfText,
  mailbox,
  warnings,
} from '../shapes/fields.ts'
import { warnOfUnknownFields } from '../validation.ts'

type Limits = Config['limits']

/** For body and text together: they are stored as one value, and a long write delays all others. */
const MAX_TEXT_BYTES = 10 * 1024 * 1024

const NOT_BASE64 = 'Must be base64 (RFC 4648), without a data: prefix'

const sender = describedMailbox('from must be an email address or an object {name, email}')

/** Header fields that the client adds to the message. */
const customHeaders = z
  .record(z.string(), lineOfText(MAX_HEADER_VALUE_LENGTH))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > MAX_HEADERS) {
      const message = `At most ${MAX_HEADERS} headers`
      context.addIssue({ code: 'custom', message, params: { code: 'too_big' } })
    }
    for (const name of names) {
      const message = headerRefusal(name)
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
    }
  })
  .meta({
    maxProperties: MAX_HEADERS,
    description: `Header fields to add. Not: ${REFUSED_HEADERS.join(', ')}`,
  })

/** Contents are checked as base64 and not decoded. */
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
  .transform(
    (item): StoredAttachment => ({
      ...item,
      contentId: item.contentId ?? null,
      disposition:
        item.disposition ?? (isInvitation(item.contentType) ? 'alternative' : 'attachment'),
    }),
  )

/** The body of a request becomes a `SendRequest`. `limits` are the configuration's. */
export function sendBody(limits: Limits) {
  return z
    .object({
      to: z
        .union([...mailbox.options, z.array(mailbox).min(1).max(limits.recipientsPerRequest)])
        .transform((to) => (Array.isArray(to) ? to : [to])),
      subject: lineOfText(MAX_SUBJECT_LENGTH).min(1).optional(),
      body: z.string().min(1).optional().meta({ description: 'HTML' }),
      text: z.string().min(1).optional().meta({
        description:
          'The text part, which may also be a template; by default it is made from the HTML',
      }),
      template: id.optional(),
      from: sender.optional(),
      name: displayName.optional().meta({
        deprecated: true,
        description: 'Display name of the sender; use `from: {name, email}` instead',
      }),
      subscribed: z.boolean().optional(),
      data: z.unknown().optional().meta({
        description:
          'Variables; stored with the contact unless given as {value, persistent: false}',
      }),
      headers: customHeaders.optional(),
      reply: emailAddress.optional(),
      attachments: attachmentList(limits).optional(),
      tracking: z.boolean().optional(),
    })
    .superRefine((body, context) => {
      if (body.template === undefined && (body.subject === undefined || body.body === undefined)) {
        const message = 'Either template, or both subject and body, are required'
        context.addIssue({ code: 'custom', path: ['template'], message })
      }
      const texts = Buffer.byteLength(body.body ?? '') + Buffer.byteLength(body.text ?? '')
      if (texts > MAX_TEXT_BYTES) {
        const message = `body and text may have at most ${MAX_TEXT_BYTES} bytes together: attach the rest`
        context.addIssue({ code: 'custom', path: ['body'], message, params: { code: 'too_big' } })
      } else if (texts + attachedBytes(body.attachments ?? []) > limits.messageMaxBytes) {
        const message = `The message is larger than ${limits.messageMaxBytes} bytes`
        context.addIssue({ code: 'custom', path: ['body'], message, params: { code: 'too_big' } })
      }
    })
}

/** A quarter more than the largest message, for the other fields and for JSON's escapes. */
function maxBodyBytes({ messageMaxBytes }: Limits): number {
  return Math.max(DEFAULT_BODY_BYTES, Math.ceil(messageMaxBytes * 1.25))
}

const sentEmail = z
  .object({
    contact: z.object({ id: z.string(), email: z.string() }),
    email: z.string().meta({ description: 'The id of the email' }),
  })
  .meta({ id: 'AcceptedEmail' })

const sentEmails = z.array(sentEmail)

const sent = z.object({
  success: z.literal(true),
  data: z.object({ emails: sentEmails, timestamp: instant, warnings: warnings.optional() }),
  emails: sentEmails.meta(againAtTopLevel),
  timestamp: instant.meta(againAtTopLevel),
})

/** The names that other mail services use for the fields. */
const FIELD_ALIASES = {
  html: 'body',
  htmlBody: 'body',
  html_body: 'body',
  content: 'body',
  message: 'body',
  textBody: 'text',
  plainText: 'text',
  templateId: 'template',
  template_id: 'template',
  variables: 'data',
  params: 'data',
  substitutions: 'data',
  reply_to: 'reply',
  replyTo: 'reply',
  from_name: 'name',
  fromName: 'name',
  from_email: 'from',
  sender: 'from',
  recipient: 'to',
  recipients: 'to',
  custom_headers: 'headers',
  track: 'tracking',
}

export const send = ({ core }: RouteDeps) => {
  const schema = sendBody(core.config.limits)
  return projectOperation({
    tag: 'Public API',
    summary: 'Send an email to one or more recipients',
    description:
      'Needs either `template`, or both `subject` and `body`; and `from` unless the template has a ' +
      'sender. One request is one transaction: a refused request leaves nothing queued. For an ' +
      "address on the project's suppression list the email gets the status SUPPRESSED and is " +
      'never sent. A request that is over a limit of the project by the month is refused (402); its ' +
      'Idempotency-Key stays free.',
    takesIdempotencyKey: true,
    body: schema,
    maxBodyBytes: maxBodyBytes(core.config.limits),
    responses: { 200: { description: 'Accepted: stored and queued', schema: sent } },
    refusals: [400, 402, 404, 409],
    handle: async ({ project, body, givenBody, path, idempotencyKey }) => {
      await checkLongContents(body.attachments ?? [])
      const idempotency =
        idempotencyKey === undefined ? undefined : { key: idempotencyKey, method: 'POST', path }
      const data = await acceptOnce(
        core,
        { project, request: body },
        { idempotency, toResponseData },
      )
      core.log.debug({ emailIds: data.emails.map(({ email }) => email) }, 'emails were accepted')
      const { warnings: found = [], ...accepted } = data
      const all = [...(warnOfUnknownFields(schema, givenBody, FIELD_ALIASES) ?? []), ...found]
      const warnings = all.length === 0 ? undefined : all
      return json(200, { success: true, data: { ...accepted, warnings }, ...accepted })
    },
  })
}

/** The row of an idempotency key stores this response: its bytes are part of the API. */
function toResponseData({ emails, at, warnings }: AcceptedMessage) {
  return {
    ...(warnings.length === 0 ? {} : { warnings }),
    emails: emails.map(({ id, contactId, recipient }) => ({
      contact: { id: contactId, email: recipient },
      email: id,
    })),
    timestamp: formatInstant(at),
  }
}

/** Programs only act on an invitation that is a form of the text (RFC 6047 section 2.4). */
function isInvitation(contentType: string): boolean {
  const parsed = parseContentType(contentType)
  return parsed?.type === 'text/calendar' && parsed.parameters.has('method')
}

function attachmentList(limits: Limits) {
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

/** `checkLongContents` checks long contents later, in steps. */
function isLong(content: string): boolean {
  return content.length > MAX_QUICK_BASE64_LENGTH
}

/** Checks the long contents in steps, with other work in between. @throws AppError VALIDATION_ERROR */
async function checkLongContents(attachments: readonly StoredAttachment[]): Promise<void> {
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

function headerRefusal(name: string): string | undefined {
  if (!isHeaderName(name)) return 'Not a valid name of a header field'
  return isRefusedHeader(name) ? 'This header cannot be set' : undefined
}
