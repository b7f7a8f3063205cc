/**
 * Projects in the API: the whole record for members, a summary for API keys, and the requests that
 * write projects.
 */
import { z } from 'zod'
import { instant, lineOfText } from './fields.ts'
import { MAX_NAME_LENGTH, MAX_POSTAL_ADDRESS_LENGTH } from './limits.ts'
import {
  DELIVERY_MODES,
  DISABLED_REASONS,
  FAULT_ACTIONS,
  LANGUAGE_PATTERN,
  ROLES,
  TRACKING_MODES,
} from './words.ts'

export const role = z.enum(ROLES)
const trackingMode = z.enum(TRACKING_MODES)

const postalAddress = lineOfText(MAX_POSTAL_ADDRESS_LENGTH).nullable().meta({
  description:
    'One line, in the footer of marketing mail and as the variable `postalAddress`; null: none',
})

const submissionTemplates = z.boolean().meta({
  description:
    'Whether `{{ … }}` in the subject and the text of submitted mail is rendered; a message overrides ' +
    'it with the header field `X-Pillarbox-Template: yes` or `no`. False in new projects',
})

const onTemplateFault = z.enum(FAULT_ACTIONS).meta({
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
    disabledReason: z.enum(DISABLED_REASONS).nullable(),
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

export type ProjectRecord = z.output<typeof projectRecord>

export const projectWithNewKeys = projectRecord
  .pick({
    ...{ id: true, name: true, public: true, secret: true, createdAt: true, updatedAt: true },
    ...{ disabled: true, customer: true, subscription: true },
  })
  .meta({ id: 'ProjectWithNewKeys' })

export type ProjectWithNewKeys = z.output<typeof projectWithNewKeys>

/**
 * The API keys of a project, as commands print them; `secret` has the meaning that it has in
 * `ProjectRecord`.
 */
export type ProjectKeysRecord = Pick<ProjectRecord, 'id' | 'name' | 'public' | 'secret'>

/** A project as commands print it. */
export type ServerProject = Omit<
  ProjectRecord,
  | 'publicLastUsedAt'
  | 'secretLastUsedAt'
  | 'customer'
  | 'subscription'
  | 'billingLimitWorkflows'
  | 'billingLimitCampaigns'
  | 'billingLimitTransactional'
  | 'billingLimitInbound'
  | 'role'
>

/** `owner`: the address of the owner; null if the owner was deleted. */
export type ListedServerProject = ServerProject & { owner: string | null }

export const projectSummary = z
  .object({
    id: z.string(),
    name: z.string(),
    defaultSenderDomain: z.string().nullable().meta({ description: 'The oldest verified domain' }),
    createdAt: instant,
  })
  .meta({ id: 'ProjectSummary' })

export type ProjectSummary = z.output<typeof projectSummary>

export const setupState = z
  .object({
    hasSubscription: z.boolean(),
    hasVerifiedDomain: z.boolean(),
    contactCount: z.int(),
    hasContacts: z.boolean(),
    lastCampaignSentAt: instant.nullable(),
    hasEnabledWorkflow: z.boolean(),
    hasSentEmail: z.boolean().meta({ description: 'Whether any email has left the server' }),
    deliveryMode: z.enum(DELIVERY_MODES),
  })
  .meta({ id: 'SetupState' })

export type SetupState = z.output<typeof setupState>

const name = z.string().min(1).max(MAX_NAME_LENGTH).meta({
  description: 'Without invisible characters, and without letters that imitate those of others',
})

export const newProject = z.object({ name })

export const projectSettings = z
  .object({
    name,
    tracking: trackingMode,
    language: z
      .string()
      .regex(LANGUAGE_PATTERN, 'Expected a language such as en or pt-BR')
      .meta({ description: 'Of pages and footers, such as `en` or `pt-BR`' }),
    postalAddress,
    submissionTemplates,
    onTemplateFault,
    publicKeyMayUpdate: z.boolean().meta({
      description:
        'Whether the public key may unsubscribe existing contacts, overwrite their data and learn their ids; false for new projects',
    }),
  })
  .partial()

export const projectExample: ProjectRecord = {
  id: '0199a7c0-0000-7000-8000-000000000001',
  name: 'Shop',
  public: 'pk_…',
  secret: 'sk_…',
  publicLastUsedAt: null,
  secretLastUsedAt: null,
  disabled: false,
  disabledReason: null,
  customer: null,
  subscription: null,
  billingLimitWorkflows: null,
  billingLimitCampaigns: null,
  billingLimitTransactional: null,
  billingLimitInbound: null,
  tracking: 'MARKETING_ONLY',
  language: 'pt-BR',
  postalAddress: 'Shop Ltd, 1 Main Street, Springfield',
  submissionTemplates: false,
  onTemplateFault: 'refuse',
  publicKeyMayUpdate: false,
  role: 'OWNER',
  createdAt: '2026-11-21T12:00:00.000Z',
  updatedAt: '2026-11-22T09:30:00.000Z',
}

/** A second project, as the request that creates it returns it. */
export const newProjectExample: ProjectRecord = {
  ...projectExample,
  id: '0199a7c0-0000-7000-8000-000000000a01',
  name: 'Letters',
  tracking: 'ENABLED',
  language: 'en',
  postalAddress: null,
}

export const projectSummaryExample: ProjectSummary = {
  id: projectExample.id,
  name: projectExample.name,
  defaultSenderDomain: 'example.com',
  createdAt: projectExample.createdAt,
}
