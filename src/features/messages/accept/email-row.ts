/** Inserts the rows of new emails: the most frequent insert of the server. */
import { type Email, emails } from '../../../store/schema/messages.ts'
import type { QueueState } from '../../../store/schema/words.ts'
import { parameter, statement } from '../../../store/statement.ts'
import type { Tx } from '../../../store/write/transaction.ts'

export type EmailDraft = Pick<
  Email,
  | 'id'
  | 'projectId'
  | 'contactId'
  | 'contentId'
  | 'sourceType'
  | 'templateId'
  | 'campaignId'
  | 'workflowExecutionId'
  | 'recipient'
  | 'recipientDomain'
  | 'toName'
  | 'fromAddress'
  | 'fromName'
  | 'replyTo'
  | 'subject'
  | 'contentClass'
  | 'isTracked'
  | 'headers'
  | 'variables'
  | 'messageId'
  | 'queueClass'
  | 'giveUpAt'
> & { state: Extract<QueueState, 'queued' | 'held' | 'suppressed'>; at: number }

const insertRow = statement((db) =>
  db.insert(emails).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    contactId: parameter('contactId'),
    contentId: parameter('contentId'),
    sourceType: parameter('sourceType'),
    templateId: parameter('templateId'),
    campaignId: parameter('campaignId'),
    workflowExecutionId: parameter('workflowExecutionId'),
    recipient: parameter('recipient'),
    recipientDomain: parameter('recipientDomain'),
    toName: parameter('toName'),
    fromAddress: parameter('fromAddress'),
    fromName: parameter('fromName'),
    replyTo: parameter('replyTo'),
    subject: parameter('subject'),
    contentClass: parameter('contentClass'),
    isTracked: parameter('isTracked'),
    headers: parameter('headers'),
    variables: parameter('variables'),
    messageId: parameter('messageId'),
    state: parameter('state'),
    status: parameter('status'),
    queueClass: parameter('queueClass'),
    dueAt: parameter('dueAt'),
    giveUpAt: parameter('giveUpAt'),
    heldAt: parameter('heldAt'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
  }),
)

export async function insertEmails(tx: Tx, drafts: readonly EmailDraft[]): Promise<void> {
  await tx.executeEach(insertRow, drafts.map(toRow))
}

function toRow(draft: EmailDraft) {
  return {
    ...draft,
    status: draft.state === 'suppressed' ? 'SUPPRESSED' : 'PENDING',
    dueAt: draft.state === 'queued' ? draft.at : null,
    heldAt: draft.state === 'held' ? draft.at : null,
  }
}
