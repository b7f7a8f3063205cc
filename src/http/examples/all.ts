/** The examples of all operations, by method and path. */
import { activityExamples } from './activity.ts'
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
import { eventExamples } from './events.ts'
import type { Examples, OperationExample } from './operation-example.ts'
import { publicApiExamples } from './public-api.ts'
import { segmentExamples } from './segments.ts'
import { serviceExamples } from './service.ts'
import { suppressionExamples } from './suppressions.ts'
import { templateExamples } from './templates.ts'
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
  ...serviceExamples,
}

export function findExample(method: string, path: string): OperationExample | undefined {
  return examples[`${method} ${path}`]
}
