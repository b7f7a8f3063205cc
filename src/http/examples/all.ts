/** The examples of all operations, by method and path. */
import { activityExamples } from './activity.ts'
import { analyticsExamples } from './analytics.ts'
import { billingExamples } from './billing.ts'
import { campaignFiguresExamples } from './campaign-figures.ts'
import { campaignExamples } from './campaigns.ts'
import { contactJobExamples } from './contact-jobs.ts'
import { contactExamples } from './contacts.ts'
import { domainExamples } from './domains.ts'
import { eventExamples } from './events.ts'
import type { Examples, OperationExample } from './operation-example.ts'
import { projectExamples } from './projects.ts'
import { publicApiExamples } from './public-api.ts'
import { segmentExamples } from './segments.ts'
import { serviceExamples } from './service.ts'
import { suppressionExamples } from './suppressions.ts'
import { templateExamples } from './templates.ts'
import { authExamples } from './users.ts'
import { webhookExamples } from './webhooks.ts'
import { workflowExecutionExamples } from './workflow-executions.ts'
import { workflowExamples } from './workflows.ts'

const examples: Examples = {
  ...publicApiExamples,
  ...contactJobExamples,
  ...contactExamples,
  ...templateExamples,
  ...segmentExamples,
  ...campaignExamples,
  ...campaignFiguresExamples,
  ...workflowExecutionExamples,
  ...workflowExamples,
  ...eventExamples,
  ...suppressionExamples,
  ...webhookExamples,
  ...domainExamples,
  ...activityExamples,
  ...analyticsExamples,
  ...authExamples,
  ...projectExamples,
  ...billingExamples,
  ...serviceExamples,
}

export function findExample(method: string, path: string): OperationExample | undefined {
  return examples[`${method} ${path}`]
}
