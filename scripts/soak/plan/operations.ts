/** What clients do, and how often. */

export type OperationKind =
  | 'send'
  | 'send-keyed'
  | 'send-many'
  | 'send-attachment'
  | 'send-template'
  | 'send-abandoned'
  | 'send-then-erase'
  | 'submit'
  | 'track'
  | 'track-keyed'
  | 'start-workflow'
  | 'cancel-execution'
  | 'save-contact'
  | 'delete-contact'
  | 'report-bounce'
  | 'report-complaint'
  | 'reply'
  | 'open'
  | 'click'
  | 'unsubscribe'
  | 'read'
  | 'cancel-email'
  | 'change-endpoint'
  | 'campaign'
  | 'command'

export type Operation = {
  /** From 1; in the subject, the data or the address of whatever the operation makes. */
  number: number
  /** Milliseconds since the start of the load. */
  at: number
  kind: OperationKind
  /** Numbers from 0 (inclusive) to 1 (exclusive) that decide the details. */
  lots: readonly [number, number, number, number]
}

/** Operations a second, without campaigns and commands. */
export const PER_SECOND = 15

/** A command is a process of its own, which costs most of a second of a processor. */
export const CAMPAIGN_EVERY_MS = 15_000
export const COMMAND_EVERY_MS = 12_000

export const WEIGHTS: readonly (readonly [OperationKind, number])[] = [
  ['send', 22],
  ['send-keyed', 14],
  ['send-many', 5],
  ['send-attachment', 3],
  ['send-template', 4],
  ['send-abandoned', 2],
  ['send-then-erase', 2],
  ['submit', 5],
  ['track', 7],
  ['track-keyed', 5],
  ['start-workflow', 5],
  ['cancel-execution', 1],
  ['save-contact', 7],
  ['delete-contact', 2],
  ['report-bounce', 1.5],
  ['report-complaint', 1],
  ['reply', 1.5],
  ['open', 3],
  ['click', 3],
  ['unsubscribe', 1],
  ['read', 8],
  ['cancel-email', 1],
  ['change-endpoint', 0.3],
]
