/** The examples of all operations, by method and path. */

import { activityExamples } from './activity.ts'
import { analyticsExamples } from './analytics.ts'
import { authExamples } from './auth.ts'
import { billingExamples } from './billing.ts'
import { billingLimitExamples } from './billing-limits.ts'
import { campaignComposingExamples } from './campaign-composing.ts'
import { campaignFiguresExamples } from './campaign-figures.ts'
import { campaignSendingExamples } from './campaign-sending.ts'
import { campaignStoppingExamples } from './campaign-stopping.ts'
import { campaignExamples } from './campaigns.ts'
import { contactFieldExamples } from './contact-fields.ts'
import { contactJobExamples } from './contact-jobs.ts'
import { contactExamples } from './contacts.ts'
import { domainExamples } from './domains.ts'
import { emailExamples } from './emails.ts'
import { erasureExamples } from './erasure.ts'
import { eventExamples } from './events.ts'
import { instanceExamples } from './instance.ts'
import { memberExamples } from './members.ts'
import { oauthExamples } from './oauth.ts'
import type { Examples, OperationExample } from './operation-example.ts'
import { projectExamples } from './projects.ts'
import { publicApiExamples } from './public-api.ts'
import { securityExamples } from './security.ts'
import { segmentExamples } from './segments.ts'
import { serviceExamples } from './service.ts'
import { suppressionExamples } from './suppressions.ts'
import { templateExamples } from './templates.ts'
import { uploadExamples } from './uploads.ts'
import { userExamples } from './users.ts'
import { webhookExamples } from './webhooks.ts'
import { workflowExecutionExamples } from './workflow-executions.ts'
import { workflowExamples } from './workflows.ts'

const examples: Examples = {
  ...publicApiExamples,
  ...contactFieldExamples,
  ...contactJobExamples,
  ...contactExamples,
  ...templateExamples,
  ...segmentExamples,
  ...campaignExamples,
  ...campaignComposingExamples,
  ...campaignFiguresExamples,
  ...campaignSendingExamples,
  ...campaignStoppingExamples,
  ...workflowExecutionExamples,
  ...workflowExamples,
  ...emailExamples,
  ...eventExamples,
  ...suppressionExamples,
  ...webhookExamples,
  ...domainExamples,
  ...activityExamples,
  ...analyticsExamples,
  ...authExamples,
  ...oauthExamples,
  ...userExamples,
  ...projectExamples,
  ...memberExamples,
  ...billingExamples,
  ...erasureExamples,
  ...billingLimitExamples,
  ...securityExamples,
  ...uploadExamples,
  ...instanceExamples,
  ...serviceExamples,
}

export function findExample(method: string, path: string): OperationExample | undefined {
  return examples[`${method} ${path}`]
}
