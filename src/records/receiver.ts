/** The receivers of a project's waiting mail: how much waits for each, and what each allows now. */
import { z } from 'zod'
import { instant } from './fields.ts'
import { MAX_RECEIVER_DOMAINS, MAX_RECEIVER_REPLY_LENGTH, MAX_RECEIVERS } from './limits.ts'
import { RECEIVER_STATES } from './words.ts'

const receiver = z
  .object({
    receiver: z.string().meta({ description: 'The provider, as in `/analytics/deliverability`' }),
    waiting: z.int().meta({ description: 'Emails that wait, with those of held domains' }),
    deferred: z.int().meta({ description: 'Those of them that wait for another attempt' }),
    oldestDueAt: instant.nullable().meta({
      description: 'When the first of them is or was due; null if all are held',
    }),
    state: z.enum(RECEIVER_STATES).meta({
      description:
        'Of the systems of this receiver that are not open, the one with most of this mail: `slowed` gets ' +
        'less mail than at other times, `closed` none now, `held` none until an operator releases it',
    }),
    affected: z.int().meta({ description: 'Waiting emails in that state; 0 if it is `open`' }),
    domains: z.array(z.string()).max(MAX_RECEIVER_DOMAINS).meta({
      description: 'Recipient domains in that state, those with most mail first',
    }),
    messagesPerMinute: z.number().nullable().meta({ description: 'Null without such a limit' }),
    until: instant.nullable().meta({
      description: 'Until when the limit holds; null if accepted mail ends it, or an operator',
    }),
    reply: z
      .object({
        code: z
          .int()
          .nullable()
          .meta({ description: 'Null if the attempt failed without a reply' }),
        enhancedCode: z.string().nullable(),
        text: z.string().max(MAX_RECEIVER_REPLY_LENGTH),
        at: instant,
      })
      .nullable()
      .meta({
        description:
          "The newest reply to a few of the project's deferred emails, or why they got none; null if none was tried",
      }),
  })
  .meta({ id: 'Receiver' })

export type ReceiverRecord = z.output<typeof receiver>

export const receivers = z.array(receiver).max(MAX_RECEIVERS)

export const receiverExample: ReceiverRecord = {
  receiver: 'Outlook',
  waiting: 1,
  deferred: 1,
  oldestDueAt: '2026-11-22T09:30:00.000Z',
  state: 'slowed',
  affected: 1,
  domains: ['outlook.com'],
  messagesPerMinute: 6,
  until: '2026-11-22T10:00:00.000Z',
  reply: {
    code: 451,
    enhancedCode: '4.7.650',
    text: '4.7.650 The mail server has been temporarily rate limited due to IP reputation',
    at: '2026-11-22T09:29:00.000Z',
  },
}
