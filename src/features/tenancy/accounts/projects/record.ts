/** Projects as their members see them. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type {
  DisabledReason,
  OnTemplateFault,
  Role,
  TrackingMode,
} from '../../../../store/schema/words.ts'
import { maskSecret } from './keys.ts'

/** Ids at Stripe; limits of emails in a month. */
type BillingFields = {
  customer: string | null
  subscription: string | null
  billingLimitWorkflows: number | null
  billingLimitCampaigns: number | null
  billingLimitTransactional: number | null
  billingLimitInbound: number | null
}

export type ProjectRecord = BillingFields & {
  id: string
  name: string
  public: string
  /** Masked, unless the keys were just made. */
  secret: string
  /** To the minute. */
  publicLastUsedAt: string | null
  secretLastUsedAt: string | null
  disabled: boolean
  disabledReason: DisabledReason | null
  tracking: TrackingMode
  language: string
  postalAddress: string | null
  submissionTemplates: boolean
  onTemplateFault: OnTemplateFault
  /** Whether the public key may unsubscribe contacts, change their data and learn their ids. */
  publicKeyMayUpdate: boolean
  /** Of the user who asks. */
  role: Role
  createdAt: string
  updatedAt: string
}

export function toProjectRecord(project: Project, role: Role): ProjectRecord {
  return {
    id: project.id,
    name: project.name,
    public: project.publicKey,
    secret: maskSecret(project.secretHint),
    publicLastUsedAt: formatOptionalInstant(project.publicLastUsedAt),
    secretLastUsedAt: formatOptionalInstant(project.secretLastUsedAt),
    disabled: project.isDisabled,
    disabledReason: project.disabledReason,
    customer: project.customer,
    subscription: project.subscription,
    billingLimitWorkflows: project.limitWorkflows,
    billingLimitCampaigns: project.limitCampaigns,
    billingLimitTransactional: project.limitTransactional,
    billingLimitInbound: project.limitInbound,
    tracking: project.tracking,
    language: project.language,
    postalAddress: project.postalAddress,
    submissionTemplates: project.submissionTemplates,
    onTemplateFault: project.onTemplateFault,
    publicKeyMayUpdate: project.publicKeyMayUpdate,
    role,
    createdAt: formatInstant(project.createdAt),
    updatedAt: formatInstant(project.updatedAt),
  }
}
