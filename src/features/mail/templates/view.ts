/** A template as the API returns it. */

import { formatInstant } from '../../../base/clock.ts'
import { AppError } from '../../../base/errors.ts'
import type { TemplateRecord } from '../../../records/template.ts'
import type { Template } from '../../../store/schema/messages.ts'

/** A template of a project. Another project's template counts as unknown. */
export type TemplateKey = { projectId: string; id: string }

export function toTemplateRecord(template: Template): TemplateRecord {
  return {
    id: template.id,
    name: template.name,
    description: template.description,
    subject: template.subject,
    body: template.body,
    from: template.fromAddress,
    fromName: template.fromName,
    replyTo: template.replyTo,
    type: template.type,
    projectId: template.projectId,
    createdAt: formatInstant(template.createdAt),
    updatedAt: formatInstant(template.updatedAt),
  }
}

export function templateNotFound(id: string): AppError {
  return new AppError('TEMPLATE_NOT_FOUND', 'No template of this project has that id.', {
    details: { resource: 'template', id },
  })
}
