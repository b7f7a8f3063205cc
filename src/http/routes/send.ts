/**
 * `POST /v1/send`: the shape of a send request. `acceptOnce` checks the fields that depend on the
 * project's data, such as the sender domain, the template and subscriptions.
 */
import { z } from 'zod'
import { type FieldWarning, invalidField, tooLongText } from '../../base/errors.ts'
import type { Config } from '../../config/config.ts'
import {
  type AcceptedMessage,
  acceptOnce,
} from '../../features/mail/messages/accept/accept-message.ts'
import type { SendRequest } from '../../features/mail/messages/accept/plan.ts'
import {
  createTemplateChecker,
  htmlOfMarkdown,
} from '../../features/mail/messages/accept/template-check.ts'
import { attachedBytes } from '../../formats/compose/attachment.ts'
import {
  isHeaderName,
  isRefusedHeader,
  REFUSED_HEADERS,
} from '../../formats/compose/custom-header.ts'
import {
  MAX_EXTRA_HEADER_VALUE_LENGTH,
  MAX_EXTRA_HEADERS,
  MAX_MARKDOWN_LENGTH,
  MAX_SUBJECT_LENGTH,
} from '../../formats/limits.ts'
import { sendAnswer } from '../../records/email.ts'
import {
  describedMailbox,
  displayName,
  emailAddress,
  id,
  lineOfText,
  mailboxes,
} from '../../records/fields.ts'
import { FAULT_ACTIONS } from '../../records/words.ts'
import { attachmentList, checkLongContents } from '../attachments.ts'
import { DEFAULT_BODY_BYTES, projectOperation, type RouteDeps } from '../route.ts'
import { toWarningTexts } from '../unknown-names.ts'
import { findWeakData } from '../weak-data.ts'
import * as examples from './email-examples.ts'
import { sentResponse, toFaultWarning, toSentEmails } from './sent-emails.ts'

type Limits = Config['limits']

/**
 * The most bytes of body and text together: they are stored as one value, and a long write delays
 * all other writes.
 */
const MAX_TEXT_BYTES = 10 * 1024 * 1024

const sender = describedMailbox('Must be an email address or an object {name, email}')

/** Header fields that the client adds to the message. */
const customHeaders = z
  .record(z.string(), lineOfText(MAX_EXTRA_HEADER_VALUE_LENGTH))
  .superRefine((headers, context) => {
    const names = Object.keys(headers)
    if (names.length > MAX_EXTRA_HEADERS) {
      const message = `At most ${MAX_EXTRA_HEADERS} headers`
      context.addIssue({ code: 'custom', message, params: { code: 'too_big' } })
    }
    for (const name of names) {
      const message = headerRefusal(name)
      if (message !== undefined) context.addIssue({ code: 'custom', path: [name], message })
    }
  })
  .meta({
    maxProperties: MAX_EXTRA_HEADERS,
    description: `Header fields to add. Not: ${REFUSED_HEADERS.join(', ')}`,
  })

export const sendQuery = z.object({
  onTemplateFault: z
    .enum(FAULT_ACTIONS)
    .optional()
    .meta({
      description:
        'In place of the setting of the project: `refuse` answers 422 for a fault in subject, body or text, ' +
        '`send` sends the email with its placeholders filled in, and warns',
    }),
})

/** The body of a request becomes a `SendRequest`. `limits` are the configuration's. */
export function sendBody(limits: Limits) {
  return z
    .object({
      to: mailboxes(limits.recipientsPerRequest),
      subject: lineOfText(MAX_SUBJECT_LENGTH).min(1).optional(),
      body: z.string().min(1).optional().meta({ description: 'HTML' }),
      text: z
        .string()
        .min(1)
        .optional()
        .meta({
          description:
            'The text part, which may also be a template; by default it is made from the HTML. Without ' +
            '`body` and `template`, the message is this text alone',
        }),
      type: z.enum(['html', 'markdown']).optional().meta({
        description:
          'What `body` is: `html` (the default), or `markdown` with at most 256 KB, which becomes HTML',
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
          'An object of variables; stored with the contact unless given as {value, persistent: false}',
      }),
      headers: customHeaders.optional(),
      reply: emailAddress.optional(),
      attachments: attachmentList(limits).optional(),
      tracking: z.boolean().optional(),
    })
    .refine(({ template, subject }) => template !== undefined || subject !== undefined, {
      path: ['subject'],
      message: 'Required, unless template is given',
      when: isObjectValue,
    })
    .refine(
      ({ template, body, text }) => [template, body, text].some((each) => each !== undefined),
      {
        path: ['body'],
        message: 'Required, unless text or template is given',
        when: isObjectValue,
      },
    )
    .superRefine((body, context) => {
      if (body.type === 'markdown') refuseLongMarkdown(body, context)
      const longest = [body.body === undefined && body.text !== undefined ? 'text' : 'body']
      const texts = Buffer.byteLength(body.body ?? '') + Buffer.byteLength(body.text ?? '')
      if (texts > MAX_TEXT_BYTES) {
        const message = `body and text may have at most ${MAX_TEXT_BYTES} bytes together: attach the rest`
        context.addIssue({ code: 'custom', path: longest, message, params: { code: 'too_big' } })
      } else if (texts + attachedBytes(body.attachments ?? []) > limits.messageMaxBytes) {
        const message = `The message is larger than ${limits.messageMaxBytes} bytes`
        context.addIssue({ code: 'custom', path: longest, message, params: { code: 'too_big' } })
      }
    })
}

/**
 * Whether a rule about several fields is checked: even if single fields are wrong, so that one
 * answer names everything that is missing.
 */
function isObjectValue({ value }: { value: unknown }): boolean {
  return typeof value === 'object' && value !== null
}

function refuseLongMarkdown(
  { body }: { body?: string | undefined },
  context: z.RefinementCtx,
): void {
  if (body === undefined) {
    const message = 'Markdown needs a body'
    context.addIssue({ code: 'custom', path: ['type'], message })
  } else if (body.length > MAX_MARKDOWN_LENGTH) {
    const message = tooLongText(MAX_MARKDOWN_LENGTH)
    context.addIssue({ code: 'custom', path: ['body'], message, params: { code: 'too_big' } })
  }
}

/** A quarter more than the largest message, for the other fields and for JSON's escapes. */
function maxBodyBytes({ messageMaxBytes }: Limits): number {
  return Math.max(DEFAULT_BODY_BYTES, Math.ceil(messageMaxBytes * 1.25))
}

const NONE: readonly string[] = []

/** The names that other mail services use for the fields. */
const FIELD_ALIASES = {
  html: 'body',
  htmlBody: 'body',
  htmlContent: 'body',
  content: 'body',
  message: 'body',
  markdown: 'body with type: "markdown"',
  textBody: 'text',
  textContent: 'text',
  plainBody: 'text',
  plainText: 'text',
  templateId: 'template',
  templateAlias: 'template',
  templateModel: 'data',
  templateData: 'data',
  templateVariables: 'data',
  dynamicTemplateData: 'data',
  mergeVars: 'data',
  globalMergeVars: 'data',
  mergeVariables: 'data',
  variables: 'data',
  params: 'data',
  substitutions: 'data',
  replyTo: 'reply',
  replyToList: 'reply',
  fromName: 'name',
  fromEmail: 'from',
  sender: 'from',
  mailFrom: 'from',
  recipient: 'to',
  recipients: 'to',
  rcptTo: 'to',
  personalizations: 'to',
  customHeaders: 'headers',
  track: 'tracking',
  trackOpens: 'tracking',
  trackLinks: 'tracking',
  trackingSettings: 'tracking',
  ...{ tag: null, tags: null, category: null, categories: null, metadata: null, customArgs: null },
}

const EXPLAINED = {
  'attachments.content': {
    names: ['path', 'url', 'href'],
    message: 'Files are not fetched: give their content as base64',
  },
}

const NO_COPIES =
  'Copies are not possible here: name each recipient in `to`, and each gets an email of its own'
const NO_TIME =
  'A send time is not possible here, and the email would go at once: use a workflow with a DELAY, or a ' +
  'campaign with scheduledFor'

/**
 * Names of other services that are refused: if they were ignored, other people would get the email,
 * or get it at another time.
 */
const REFUSED_NAMES = {
  ...refusedFor(NO_COPIES, [
    ...['cc', 'ccs', 'ccTo', 'toCc', 'ccEmail', 'ccEmails', 'ccAddress', 'ccAddresses'],
    ...['ccRecipients', 'ccList', 'carbonCopy', 'carbonCopies'],
    ...['bcc', 'bccs', 'bccTo', 'toBcc', 'bccEmail', 'bccEmails', 'bccAddress', 'bccAddresses'],
    ...['bccRecipients', 'bccList', 'blindCarbonCopy', 'blindCarbonCopies', 'copyTo'],
  ]),
  ...refusedFor(NO_TIME, [
    ...['scheduledAt', 'scheduledFor', 'scheduleAt', 'scheduleFor', 'scheduled', 'schedule'],
    ...['scheduledTime', 'scheduleTime', 'scheduledDate', 'scheduleDate', 'sendAt', 'sendOn'],
    ...['sendTime', 'sendDate', 'sendAfter', 'sendLater', 'deliverAt', 'deliverAfter', 'deliverOn'],
    ...['deliveryTime', 'deliveryDate', 'deliveryAt', 'o:deliverytime', 'delay', 'delayUntil'],
  ]),
}

function refusedFor(reason: string, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, reason]))
}

export const send = ({ core }: RouteDeps) => {
  const schema = sendBody(core.config.limits)
  const findFaults = createTemplateChecker(core.outbound)
  return projectOperation({
    tag: 'Public API',
    tagText: 'Calls for applications: send an email, record an event, verify an address.',
    summary: 'Send an email to one or more recipients',
    description:
      'Needs either `template`, or `subject` with `body` or `text`; and `from` unless the template has a ' +
      'sender. One request is one transaction: a refused request leaves nothing queued. For an ' +
      "address on the project's suppression list the email gets the status SUPPRESSED and is " +
      'never sent. A request that is over a limit of the project by the month is refused (402); its ' +
      'Idempotency-Key stays free.',
    takesIdempotencyKey: true,
    query: sendQuery,
    names: { aliases: FIELD_ALIASES, refused: REFUSED_NAMES, explained: EXPLAINED },
    body: schema,
    maxBodyBytes: maxBodyBytes(core.config.limits),
    responses: { 200: { description: 'Accepted: stored and queued', schema: sendAnswer } },
    refusals: [400, 402, 404, 409],
    example: examples.send,
    handle: async (call) => {
      const { project, query, body, unknownNames, path, idempotencyKey } = call
      refuseLostHtml(body, unknownNames)
      for (const warning of findWeakData(body.data)) call.warn(warning)
      for (const warning of findRepeated(body.to)) call.warn(warning)
      const told = call.warnings.length === 0 ? NONE : toWarningTexts(call.warnings)
      if (body.attachments !== undefined) await checkLongContents(body.attachments)
      const request = body.type === 'markdown' ? await withHtml(core, body) : body
      const check = { find: findFaults, onFault: query.onTemplateFault, body: body.body }
      const idempotency =
        idempotencyKey === undefined ? undefined : { key: idempotencyKey, method: 'POST', path }
      let faults: AcceptedMessage['faults'] = []
      const remember = (accepted: AcceptedMessage) => {
        faults = accepted.faults
        return toSentEmails(accepted)
      }
      const data = await acceptOnce(
        core,
        { project, request, check },
        { idempotency, toResponseData: remember },
      )
      for (const fault of faults) call.warn({ ...toFaultWarning(fault), suggestion: null })
      if (core.log.isLevelEnabled('debug')) {
        core.log.debug({ emailIds: data.emails.map(({ email }) => email) }, 'emails were accepted')
      }
      return sentResponse(data, told)
    },
  })
}

/**
 * Refuses a request whose HTML stands under a wrong name: the text would be sent alone.
 * @throws AppError VALIDATION_ERROR
 */
function refuseLostHtml(
  { template, body }: { template?: string | undefined; body?: string | undefined },
  unknownNames: readonly FieldWarning[],
): void {
  if (template !== undefined || body !== undefined) return
  const lost = unknownNames.find(({ suggestion }) => /^body\b/.test(suggestion ?? ''))
  if (lost === undefined) return
  const message = `There is no such field; did you mean ${lost.suggestion}?`
  throw invalidField(lost.field, 'unrecognized', message)
}

/** Warns of the first address that `to` repeats. */
function findRepeated(to: SendRequest['to']): FieldWarning[] {
  if (to.length < 2) return []
  const first = new Map<string, number>()
  for (const [index, { address }] of to.entries()) {
    const earlier = first.get(address.address)
    if (earlier !== undefined) {
      const message = `The same address as to.${earlier}: each entry gets an email of its own`
      return [{ field: `to.${index}`, message, suggestion: 'Name each address once' }]
    }
    first.set(address.address, index)
  }
  return []
}

/** Markdown becomes HTML. */
async function withHtml<Body extends { body?: string | undefined }>(
  { outbound }: RouteDeps['core'],
  request: Body,
): Promise<Body> {
  if (request.body === undefined) return request
  return { ...request, body: await htmlOfMarkdown(outbound, request.body) }
}

function headerRefusal(name: string): string | undefined {
  if (!isHeaderName(name)) return 'Not a valid name of a header field'
  return isRefusedHeader(name) ? 'This header cannot be set' : undefined
}
