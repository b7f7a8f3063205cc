/** Writes the rows of accepted emails, with the events of those that end at acceptance. */
import { type Email, emails } from '../../../../store/schema/messages.ts'
import type { QueueState } from '../../../../store/schema/words.ts'
import { SHELF } from '../../../../store/shelves.ts'
import { parameter, statement } from '../../../../store/statement.ts'
import type { Tx } from '../../../../store/write/transaction.ts'
import type { Base } from '../../../ground/base.ts'
import { type EmailEnd, recordEnded } from '../outcome/end-emails.ts'
import type { QueueNotifier } from '../queue/notifier.ts'

/** `error`: the reason of a failed email; null for all others. */
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
  | 'workflowStepExecutionId'
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
  | 'sealedVariables'
  | 'messageId'
  | 'queueClass'
  | 'giveUpAt'
  | 'isTest'
  | 'isPlatform'
  | 'ignoresComplaint'
  | 'error'
> & { state: Extract<QueueState, 'queued' | 'held' | 'suppressed' | 'failed'>; at: number }

/** A row that acceptance has written. */
export type AcceptedEmail = Pick<EmailDraft, 'id' | 'contactId' | 'recipient' | 'state'>

export type AcceptDeps = Pick<Base, 'config' | 'keyring' | 'reportUsage' | 'counters' | 'log'> & {
  queueNotifier: QueueNotifier
}

/** The most frequent insert of the server. */
export const insertRow = statement((db) =>
  db.insert(emails).values({
    id: parameter('id'),
    projectId: parameter('projectId'),
    contactId: parameter('contactId'),
    contentId: parameter('contentId'),
    sourceType: parameter('sourceType'),
    templateId: parameter('templateId'),
    campaignId: parameter('campaignId'),
    workflowExecutionId: parameter('workflowExecutionId'),
    workflowStepExecutionId: parameter('workflowStepExecutionId'),
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
    sealedVariables: parameter('sealedVariables'),
    messageId: parameter('messageId'),
    state: parameter('state'),
    status: parameter('status'),
    shelf: parameter('shelf'),
    queueClass: parameter('queueClass'),
    dueAt: parameter('dueAt'),
    giveUpAt: parameter('giveUpAt'),
    heldAt: parameter('heldAt'),
    isTest: parameter('isTest'),
    isPlatform: parameter('isPlatform'),
    ignoresComplaint: parameter('ignoresComplaint'),
    error: parameter('error'),
    createdAt: parameter('at'),
    updatedAt: parameter('at'),
  }),
)

const STATUS = {
  queued: 'PENDING',
  held: 'PENDING',
  suppressed: 'SUPPRESSED',
  failed: 'FAILED',
} as const

/** Inserts the rows of drafts. The queue is notified when the transaction is durable. */
export async function insertDrafts(
  deps: AcceptDeps,
  tx: Tx,
  drafts: readonly EmailDraft[],
): Promise<void> {
  await tx.insertRows(insertRow, drafts.map(toRow))
  await recordEnded(deps, tx, drafts.flatMap(endingOf))
  tx.afterCommit(() => notifyQueue(deps, drafts))
}

function endingOf(email: EmailDraft): { email: EmailDraft; end: EmailEnd; at: number }[] {
  const { state, error, at } = email
  if (state === 'suppressed') return [{ email, end: { state }, at }]
  if (state === 'failed') return [{ email, end: { state, error, reason: 'refused' }, at }]
  return []
}

function notifyQueue({ queueNotifier }: AcceptDeps, drafts: readonly EmailDraft[]): void {
  for (const { state, queueClass, recipientDomain: domain, projectId, at: dueAt } of drafts) {
    if (state === 'queued') queueNotifier.notify({ queueClass, domain, projectId, dueAt })
  }
}

function toRow(draft: EmailDraft) {
  return {
    ...draft,
    status: STATUS[draft.state],
    shelf: draft.state === 'queued' && draft.campaignId === null ? null : SHELF[draft.state],
    dueAt: draft.state === 'queued' ? draft.at : null,
    heldAt: draft.state === 'held' ? draft.at : null,
  }
}
