/**
 * The classes of the mail queue, in the order in which they are claimed: the lower number goes
 * first. The numbers are stored in `emails.queue_class`.
 */
export type QueueClass = 1 | 5 | 10

export const TRANSACTIONAL_CLASS = 1 satisfies QueueClass
export const WORKFLOW_CLASS = 5 satisfies QueueClass
export const CAMPAIGN_CLASS = 10 satisfies QueueClass

/** All classes, the most urgent first. */
export const QUEUE_CLASSES: readonly QueueClass[] = [
  TRANSACTIONAL_CLASS,
  WORKFLOW_CLASS,
  CAMPAIGN_CLASS,
]

export const QUEUE_CLASS_NAMES: Readonly<Record<QueueClass, string>> = {
  [TRANSACTIONAL_CLASS]: 'transactional',
  [WORKFLOW_CLASS]: 'workflow',
  [CAMPAIGN_CLASS]: 'campaign',
}
