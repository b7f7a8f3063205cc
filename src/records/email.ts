/** Emails in the API: the record, its form in lists, and the pages of these; `email-query.ts` has the queries. */
import { z } from 'zod'
import { againAtTopLevel, instant, warnings } from './fields.ts'
import { page } from './page.ts'
import { reasonFields, reasonOf } from './reason.ts'
import { CONTENT_CLASSES, EMAIL_STATUSES, SOURCE_TYPES } from './words.ts'

const status = z.enum(EMAIL_STATUSES)
const source = z.enum(SOURCE_TYPES)

const optionalInstant = instant.nullable()
const summaryFields = {
  id: z.string(),
  contactId: z.string(),
  recipientAddress: z.string(),
  toName: z.string().nullable(),
  subject: z.string().meta({ description: 'As rendered once the email was tried' }),
  from: z.string(),
  fromName: z.string().nullable(),
  replyTo: z.string().nullable(),
  messageId: z.string(),
  sourceType: source,
  type: z.enum(CONTENT_CLASSES),
  templateId: z.string().nullable(),
  campaignId: z.string().nullable(),
  workflowExecutionId: z.string().nullable(),
  workflowStepExecutionId: z.string().nullable(),
  workflow: z
    .object({
      id: z.string(),
      name: z.string(),
      executionId: z.string(),
      stepId: z.string().nullable(),
      stepName: z.string().nullable(),
    })
    .nullable()
    .meta({ description: 'The workflow, and its step, that sent the email' }),
  status,
  state: z.string().meta({ description: 'The state in the queue, as `pillarbox queue` shows it' }),
  sentAt: optionalInstant,
  deliveredAt: optionalInstant,
  openedAt: optionalInstant.meta({ description: 'The first open by a person' }),
  clickedAt: optionalInstant.meta({ description: 'The first click by a person' }),
  bouncedAt: optionalInstant,
  complainedAt: optionalInstant,
  opens: z.int(),
  clicks: z.int(),
  machineOpens: z.int(),
  machineClicks: z.int(),
  error: z.string().nullable(),
  isTest: z.boolean(),
  projectId: z.string(),
  createdAt: instant,
  updatedAt: instant,
}

const explained = {
  reason: z.string().meta({
    description: 'Where the email stands and why, in words; reasonCode and reasonData say the same',
  }),
  ...reasonFields,
  nextAttemptAt: optionalInstant.meta({
    description: 'Past if it is due now; null if none is planned',
  }),
  receiver: z.string().meta({
    description:
      'The mailbox provider, as analytics names it: by domain, else by the server that was tried',
  }),
}

const listedEmail = z
  .object({ ...summaryFields, ...explained, attempts: z.int() })
  .meta({ id: 'EmailSummary' })

export type ListedEmailRecord = z.output<typeof listedEmail>
/** An email in a list, without what explains its state. */
export type EmailSummary = Omit<ListedEmailRecord, keyof typeof explained | 'attempts'>

const attemptRecord = z.object({
  at: instant,
  durationMs: z.int(),
  host: z.string().nullable(),
  address: z.string().nullable(),
  tls: z.string().nullable(),
  result: z.string().meta({
    description:
      '`reported-…` for a report after the session; `interrupted` if the server ended before it ' +
      'recorded the outcome, so the message may have arrived',
  }),
  class: z.string().nullable().meta({ description: 'What the reply means' }),
  reply: z
    .object({
      code: z.int().nullable(),
      enhancedCode: z.string().nullable(),
      text: z.string().nullable(),
    })
    .nullable(),
  error: z.string().nullable(),
  finalRecipient: z.string().nullable(),
  maybeDelivered: z.boolean(),
  steps: z.array(z.record(z.string(), z.unknown())),
})

const emailEvent = z.object({
  id: z.string(),
  name: z.string(),
  data: z.unknown(),
  createdAt: instant,
})

/** An event of one email. */
export type EmailEvent = z.output<typeof emailEvent>

export const emailRecord = z
  .object({
    ...summaryFields,
    body: z
      .string()
      .nullable()
      .meta({
        description:
          'As the recipient gets it, untracked; null once retention has cleared it, and for mail of ' +
          'the server to its users',
      }),
    text: z.string().nullable().meta({ description: 'The plain text of received mail' }),
    headers: z.record(z.string(), z.string()).nullable(),
    attachments: z
      .array(
        z.object({
          filename: z.string(),
          contentType: z.string(),
          contentId: z.string().nullable(),
          disposition: z.string(),
        }),
      )
      .nullable(),
    warnings: z.array(z.string()).meta({
      description:
        'What was lost, guessed or mended in the message: replaced octets, guessed charsets, cut ' +
        'fields, parts left out; and what a signed message goes without. Unknown names of the request come first',
    }),
    ...explained,
    giveUpAt: instant,
    heldAt: optionalInstant,
    providerId: z.string().nullable(),
    answeredEmailId: z.string().nullable(),
    templateFaults: z.array(
      z.object({
        part: z.string(),
        line: z.int().nullable(),
        column: z.int().nullable(),
        message: z.string(),
      }),
    ),
    attempts: z.array(attemptRecord),
    events: z.array(emailEvent),
  })
  .meta({ id: 'Email' })

type EmailRecord = z.output<typeof emailRecord>

const acceptedEmail = z
  .object({
    contact: z.object({ id: z.string(), email: z.string() }),
    email: z.string().meta({ description: 'The id of the email' }),
  })
  .meta({ id: 'AcceptedEmail' })

const sentEmails = z.object({
  emails: z.array(acceptedEmail),
  timestamp: instant,
  warnings: warnings.optional(),
})

/** The answer to a send: the emails that it stored. */
export type SentEmails = z.output<typeof sentEmails>

export const sendAnswer = z.object({
  success: z.literal(true),
  data: sentEmails,
  emails: sentEmails.shape.emails.meta(againAtTopLevel),
  timestamp: instant.meta(againAtTopLevel),
})

export const emailPage = page(listedEmail).meta({ id: 'EmailPage' })

export const emailSummaryExample: EmailSummary = {
  id: '0199a7c0-0000-7000-8000-000000000011',
  contactId: '0199a7c0-0000-7000-8000-000000000003',
  recipientAddress: 'ann@example.org',
  toName: 'Ann',
  subject: 'Your order {{ order }}',
  from: 'hello@example.test',
  fromName: 'Shop',
  replyTo: null,
  messageId: '0199a7c0-0000-7000-8000-000000000011@example.test',
  sourceType: 'TRANSACTIONAL',
  type: 'TRANSACTIONAL',
  templateId: null,
  campaignId: null,
  workflowExecutionId: null,
  workflowStepExecutionId: null,
  workflow: null,
  status: 'PENDING',
  state: 'queued',
  sentAt: null,
  deliveredAt: null,
  openedAt: null,
  clickedAt: null,
  bouncedAt: null,
  complainedAt: null,
  opens: 0,
  clicks: 0,
  machineOpens: 0,
  machineClicks: 0,
  error: null,
  isTest: false,
  projectId: '0199a7c0-0000-7000-8000-000000000001',
  createdAt: '2026-11-22T09:30:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}

export const emailExample: EmailRecord = {
  ...emailSummaryExample,
  subject: 'Your order 66',
  body: '<!DOCTYPE html>…<p>Thank you, Ann.</p>…</html>\n',
  text: null,
  headers: null,
  attachments: null,
  warnings: [],
  reason: 'It is due now and will be sent as soon as the server gets to it.',
  ...reasonOf('due', {}),
  nextAttemptAt: '2026-11-22T09:30:00.000Z',
  receiver: 'Other',
  giveUpAt: '2026-11-23T09:30:00.000Z',
  heldAt: null,
  providerId: null,
  answeredEmailId: null,
  templateFaults: [],
  attempts: [],
  events: [],
}
