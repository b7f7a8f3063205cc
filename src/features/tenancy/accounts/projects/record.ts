/** Projects as their members see them. */
import { formatInstant, formatOptionalInstant } from '../../../../base/clock.ts'
import type { ProjectRecord } from '../../../../records/project.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Role } from '../../../../store/schema/words.ts'
import { maskSecret } from './keys.ts'

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
