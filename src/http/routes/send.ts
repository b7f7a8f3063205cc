/**
 * `POST /v1/send`: the shape of a send request (contract 1.1). What depends on the project's data
 * (sender domain, template, subscriptions) is `acceptMessage`'s.
 */
import { z } from 'zod'
import type { Config } from '../../config/config.ts'
import type { Core } from '../../features/core.ts'
import { acceptMessage } from '../../features/messages/accept.ts'
import type { NamedAddress, SendRequest } from '../../features/messages/plan.ts'
import { attachmentList } from '../attachments.ts'
import { customHeaders } from '../custom-headers.ts'
import { emailAddress, id, instant, lineOfText } from '../fields.ts'
import { json, keyedRoute, type Route } from '../route.ts'

type Limits = Config['limits']

const MAX_LINE = 998

const namedAddress = z.object({ name: lineOfText(MAX_LINE).optional(), email: emailAddress })
const oneMailbox = z.union([emailAddress, namedAddress])
type Mailbox = z.output<typeof oneMailbox>

const sender = z.union([emailAddress, namedAddress], {
  error: 'from must be an email address or an object {name, email}',
})

/** The body of the request; `limits` are the configuration's. */
export function sendBody(limits: Limits) {
  return z
    .object({
      to: z.union([
        emailAddress,
        namedAddress,
        z.array(oneMailbox).min(1).max(limits.recipientsPerRequest),
      ]),
      subject: lineOfText(MAX_LINE).min(1).optional(),
      body: z.string().min(1).optional().meta({ description: 'HTML' }),
      text: z.string().min(1).optional().meta({
        description: 'The text part beside the HTML, a template too; made of the HTML if left out',
      }),
      template: id.optional(),
      from: sender.optional(),
      name: lineOfText(MAX_LINE).optional().meta({
        deprecated: true,
        description: 'Display name of the sender; use `from: {name, email}`',
      }),
      subscribed: z.boolean().optional(),
      data: z.unknown().optional().meta({
        description: 'Variables, stored with the contact unless {value, persistent: false}',
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
      if (sizeOf(body) > limits.messageMaxBytes) {
        const message = `The message is larger than ${limits.messageMaxBytes} bytes`
        context.addIssue({ code: 'custom', path: ['body'], message, params: { code: 'too_big' } })
      }
    })
}

type SendBody = z.output<ReturnType<typeof sendBody>>

const sent = z.object({
  success: z.literal(true),
  data: z.object({
    emails: z.array(
      z.object({
        contact: z.object({ id: z.string(), email: z.string() }),
        email: z.string().meta({ description: 'The id of the email' }),
      }),
    ),
    timestamp: instant,
  }),
})

export function sendRoutes(core: Core): Route[] {
  return [
    keyedRoute({
      method: 'POST',
      path: '/v1/send',
      permission: 'secret',
      tag: 'Public API',
      summary: 'Send an email to one or more recipients',
      description:
        'Either `template`, or both `subject` and `body`; `from` unless the template has a sender. ' +
        'One request is one transaction: a refusal leaves nothing queued. An address on the ' +
        "project's suppression list gets an email with status SUPPRESSED, which is never sent.",
      takesIdempotencyKey: true,
      body: sendBody(core.config.limits),
      responses: { 200: { description: 'Accepted: durable and queued', schema: sent } },
      refusals: [400, 404, 409],
      handle: async ({ project, body, path, idempotencyKey }) => {
        const data = await acceptMessage(core, {
          project,
          request: toSendRequest(body),
          idempotency:
            idempotencyKey === undefined
              ? undefined
              : { key: idempotencyKey, method: 'POST', path },
        })
        return json(200, { success: true, data })
      },
    }),
  ]
}

function toSendRequest(body: SendBody): SendRequest {
  const { to, from, ...rest } = body
  return {
    ...rest,
    to: Array.isArray(to) ? to.map(toNamedAddress) : [toNamedAddress(to)],
    from: from === undefined ? undefined : toNamedAddress(from),
  }
}

function toNamedAddress(mailbox: Mailbox): NamedAddress {
  if (!('email' in mailbox)) return { address: mailbox, name: null }
  return { address: mailbox.email, name: mailbox.name ?? null }
}

type Sized = Pick<SendBody, 'body' | 'text' | 'attachments'>

function sizeOf({ body = '', text = '', attachments = [] }: Sized): number {
  const attached = attachments.reduce((sum, { content }) => sum + content.length, 0)
  return Buffer.byteLength(body) + Buffer.byteLength(text) + attached
}
