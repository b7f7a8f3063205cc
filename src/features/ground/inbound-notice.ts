/** The notice to the reader of received mail. */
import type { InboundMessage } from '../../store/schema/inbound.ts'

/** The columns of a received message except its octets and the results of processing. */
type StoredMessage = Pick<
  InboundMessage,
  | 'id'
  | 'receivedAt'
  | 'reversePath'
  | 'recipients'
  | 'clientAddress'
  | 'clientName'
  | 'sizeBytes'
  | 'attempts'
  | 'isSuspect'
  | 'interruptions'
  | 'dueAt'
  | 'rawChunks'
  | 'pendingKind'
  | 'line'
>

/**
 * A message that is on disk now, with its octets unless these are in chunks. 'changed': other
 * messages may be pending, by a retry or by another process, and the reader looks for them.
 */
export type InboundNotice = { row: StoredMessage; raw: Buffer | null } | 'changed'
