/** Emails that a workflow sends, accepted as the engine accepts them. */
import {
  acceptForContact,
  planTemplate,
  type TemplatePlan,
  type WorkflowEmail,
} from '../../../../src/features/mail/messages/accept/accept-for-contact.ts'
import { newId } from '../../../../src/store/ids.ts'
import { contacts } from '../../../../src/store/schema/contacts.ts'
import { type Email, templates } from '../../../../src/store/schema/messages.ts'
import { address, START } from '../../../core.ts'
import type { Sender } from './sender.ts'

export type WorkflowContact = WorkflowEmail['contact']
export type TemplateChange = Partial<typeof templates.$inferInsert>

export async function addTemplate(sender: Sender, change: TemplateChange = {}): Promise<string> {
  const row = {
    id: newId(),
    projectId: sender.project.id,
    name: 'Welcome',
    subject: 'Welcome {{ name }}',
    body: '<p>Welcome {{ event.plan }}</p>',
    fromAddress: 'team@example.test',
    fromDomain: 'example.test',
    type: 'MARKETING' as const,
    createdAt: START,
    updatedAt: START,
    ...change,
  }
  await sender.core.store.write(async (tx) => void (await tx.insert(templates).values(row)))
  return row.id
}

export async function addContact(
  sender: Sender,
  change: Partial<WorkflowContact> = {},
): Promise<WorkflowContact> {
  const contact = { id: newId(), address: 'ada@dest.test', subscribed: true, data: { name: 'Ada' } }
  const row = { ...contact, ...change }
  await sender.core.store.write(async (tx) => {
    const times = { createdAt: START, updatedAt: START }
    await tx.insert(contacts).values({ ...row, projectId: sender.project.id, ...times })
  })
  return row
}

export async function planOf(sender: Sender, change: TemplateChange = {}): Promise<TemplatePlan> {
  const templateId = await addTemplate(sender, change)
  const { core, project } = sender
  return planTemplate(core, { project, templateId }, core.now())
}

export function emailFor(
  plan: TemplatePlan,
  contact: WorkflowContact,
  change: Partial<WorkflowEmail> = {},
): WorkflowEmail {
  const recipient = address(contact.address)
  const ids = { executionId: 'the execution', stepExecutionId: 'the step' }
  return {
    ...{ plan, contact, recipient, ...ids, storedVariables: {}, isAnswer: false, at: START },
    ...change,
  }
}

export async function acceptWorkflowEmail(sender: Sender, email: WorkflowEmail): Promise<Email> {
  const { core } = sender
  const { id } = await core.store.write((tx) => acceptForContact(core, tx, email))
  return sender.email(id)
}
