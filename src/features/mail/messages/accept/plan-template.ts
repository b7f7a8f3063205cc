/**
 * Plans emails of a template without their recipients: what a step of a workflow needs once for many
 * executions. The plan holds what was current when it was made (template, sender domain, holds), so
 * it serves one batch and is then made anew.
 */
import { WORKFLOW_CLASS } from '../../../../base/queue-class.ts'
import type { Project } from '../../../../store/schema/accounts.ts'
import type { Template } from '../../../../store/schema/messages.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type ContentDraft, writeContent } from './content.ts'
import { type EmailOrigin, type EmailPlan, planEmails } from './plan.ts'

export type TemplatePlan = Pick<
  EmailPlan,
  'project' | 'sender' | 'senderDomain' | 'contentClass' | 'heldDomains'
> & {
  template: Template
  /** Writes the content at its first use in a transaction. Returns the id of its row. */
  contentIn(tx: Tx): Promise<string>
}

const ORIGIN: EmailOrigin = { source: 'WORKFLOW', class: WORKFLOW_CLASS }

/** @throws AppError TEMPLATE_NOT_FOUND, FORBIDDEN (sender domain) */
export async function planTemplate(
  deps: Pick<Base, 'config' | 'directory' | 'store'>,
  { project, templateId }: { project: Project; templateId: string },
  at: number,
): Promise<TemplatePlan> {
  const request = { to: [], template: templateId }
  const plan = await planEmails(deps, { project, request, origin: ORIGIN }, at)
  const { template, sender, senderDomain, contentClass, heldDomains, content } = plan
  if (template === undefined) throw new TypeError('The request names a template.')
  const parts = { project, sender, senderDomain, contentClass, heldDomains }
  return { ...parts, template, contentIn: onceIn(content) }
}

/**
 * A closure that runs again gets another transaction, so a row that was rolled back is not taken for
 * written.
 */
function onceIn(content: ContentDraft): TemplatePlan['contentIn'] {
  let written: { tx: Tx; id: string } | undefined
  return async (tx) => {
    if (written?.tx !== tx) written = { tx, id: await writeContent(tx, content) }
    return written.id
  }
}
