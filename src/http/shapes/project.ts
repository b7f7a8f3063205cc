/** The shapes of projects in responses. */
import { z } from 'zod'
import {
  FAULT_ACTIONS,
  MAX_POSTAL_ADDRESS_LENGTH,
  TRACKING_MODES,
} from '../../features/tenancy/accounts/projects/projects.ts'
import { instant, lineOfText } from '../../records/fields.ts'

export const role = z.enum(['OWNER', 'ADMIN', 'MEMBER'])
export const trackingMode = z.enum(TRACKING_MODES)

export const postalAddress = lineOfText(MAX_POSTAL_ADDRESS_LENGTH).nullable().meta({
  description:
    'One line, in the footer of marketing mail and as the variable `postalAddress`; null: none',
})

export const submissionTemplates = z.boolean().meta({
  description:
    'Whether `{{ … }}` in the subject and the text of submitted mail is rendered; a message overrides ' +
    'it with the header field `X-Pillarbox-Template: yes` or `no`. False in new projects',
})

export const onTemplateFault = z.enum(FAULT_ACTIONS).meta({
  description:
    'What a fault in the subject, body or text of `POST /v1/send` does: `refuse` answers 422 with its line ' +
    'and column; `send` sends the email with its placeholders filled in, and warns. `refuse` in new projects',
})

const lastUsed = instant.nullable().meta({ description: 'To the minute; null if never used' })

const billingLimit = z
  .int()
  .nullable()
  .meta({ description: 'Emails in a month (UTC); null: no limit of its own' })

export const projectRecord = z
  .object({
    id: z.string(),
    name: z.string(),
    public: z.string().meta({ description: 'The public key' }),
    secret: z.string().meta({
      description: 'The secret key, masked; complete only in the response that creates it',
    }),
    publicLastUsedAt: lastUsed,
    secretLastUsedAt: lastUsed,
    disabled: z.boolean().meta({ description: 'True also while the project is being reset' }),
    disabledReason: z
      .enum([
        'PAYMENT_FAILED',
        'EMAIL_REPUTATION',
        'PHISHING_DETECTED',
        'CARD_VERIFICATION_FAILED',
        'MANUAL',
      ])
      .nullable(),
    customer: z.string().nullable().meta({ description: 'The id of the customer at Stripe' }),
    subscription: z
      .string()
      .nullable()
      .meta({ description: 'The id of the subscription at Stripe' }),
    billingLimitWorkflows: billingLimit,
    billingLimitCampaigns: billingLimit,
    billingLimitTransactional: billingLimit,
    billingLimitInbound: billingLimit,
    tracking: trackingMode,
    language: z.string(),
    postalAddress,
    submissionTemplates,
    onTemplateFault,
    publicKeyMayUpdate: z.boolean().meta({
      description:
        'Whether the public key may unsubscribe contacts, change their data and learn ids',
    }),
    role: role.meta({ description: 'The role of the user who asks' }),
    createdAt: instant,
    updatedAt: instant,
  })
  .meta({ id: 'Project' })

export const projectSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    defaultSenderDomain: z.string().nullable().meta({ description: 'The oldest verified domain' }),
    createdAt: instant,
  })
  .meta({ id: 'ProjectSummary' })
