/** The examples of all operations, by method and path. */
import { activityExamples } from './examples/activity.ts'
import { contactFieldExamples } from './examples/contact-fields.ts'
import { contactJobExamples } from './examples/contact-jobs.ts'
import { contactExamples } from './examples/contacts.ts'
import { domainExamples } from './examples/domains.ts'
import { eventExamples } from './examples/events.ts'
import type { Examples, OperationExample } from './examples/example.ts'
import { publicApiExamples } from './examples/public-api.ts'
import { segmentExamples } from './examples/segments.ts'
import { serviceExamples } from './examples/service.ts'
import { suppressionExamples } from './examples/suppressions.ts'
import { templateExamples } from './examples/templates.ts'

const examples: Examples = {
  ...publicApiExamples,
  ...contactFieldExamples,
  ...contactJobExamples,
  ...contactExamples,
  ...templateExamples,
  ...segmentExamples,
  ...eventExamples,
  ...suppressionExamples,
  ...domainExamples,
  ...activityExamples,
  ...serviceExamples,
}

export function findExample(method: string, path: string): OperationExample | undefined {
  return examples[`${method} ${path}`]
}
