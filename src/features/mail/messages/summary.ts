/** An email as lists show it: without its body. */
import { formatInstant, formatOptionalInstant } from '../../../base/clock.ts'
import type { EmailSummary } from '../../../records/email.ts'
import { type Email, emails } from '../../../store/schema/messages.ts'
import type { WorkflowOrigin } from './explain/workflow-origin.ts'

export const SUMMARY_COLUMNS = {
  id: emails.id,
  projectId: emails.projectId,
  contactId: emails.contactId,
  recipient: emails.recipient,
  toName: emails.toName,
  subject: emails.subject,
  fromAddress: emails.fromAddress,
  fromName: emails.fromName,
  replyTo: emails.replyTo,
  messageId: emails.messageId,
  sourceType: emails.sourceType,
  contentClass: emails.contentClass,
  templateId: emails.templateId,
  campaignId: emails.campaignId,
  workflowExecutionId: emails.workflowExecutionId,
  workflowStepExecutionId: emails.workflowStepExecutionId,
  status: emails.status,
  state: emails.state,
  sentAt: emails.sentAt,
  deliveredAt: emails.deliveredAt,
  openedAt: emails.openedAt,
  clickedAt: emails.clickedAt,
  bouncedAt: emails.bouncedAt,
  complainedAt: emails.complainedAt,
  opens: emails.opens,
  clicks: emails.clicks,
  machineOpens: emails.machineOpens,
  machineClicks: emails.machineClicks,
  error: emails.error,
  isTest: emails.isTest,
  createdAt: emails.createdAt,
  updatedAt: emails.updatedAt,
}

type SummaryRow = Pick<Email, keyof typeof SUMMARY_COLUMNS>

/** `workflow`: what sent the email, if a workflow did. */
export function toSummary(email: SummaryRow, workflow: WorkflowOrigin | undefined): EmailSummary {
  return {
    id: email.id,
    contactId: email.contactId,
    recipientAddress: email.recipient,
    toName: email.toName,
    subject: email.subject,
    from: email.fromAddress,
    fromName: email.fromName,
    replyTo: email.replyTo,
    messageId: email.messageId,
    sourceType: email.sourceType,
    type: email.contentClass,
    templateId: email.templateId,
    campaignId: email.campaignId,
    workflowExecutionId: email.workflowExecutionId,
    workflowStepExecutionId: email.workflowStepExecutionId,
    workflow: workflow ?? null,
    status: email.status,
    state: email.state,
    sentAt: formatOptionalInstant(email.sentAt),
    deliveredAt: formatOptionalInstant(email.deliveredAt),
    openedAt: formatOptionalInstant(email.openedAt),
    clickedAt: formatOptionalInstant(email.clickedAt),
    bouncedAt: formatOptionalInstant(email.bouncedAt),
    complainedAt: formatOptionalInstant(email.complainedAt),
    opens: email.opens,
    clicks: email.clicks,
    machineOpens: email.machineOpens,
    machineClicks: email.machineClicks,
    error: email.error,
    isTest: email.isTest,
    projectId: email.projectId,
    createdAt: formatInstant(email.createdAt),
    updatedAt: formatInstant(email.updatedAt),
  }
}
