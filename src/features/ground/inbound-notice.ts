/** What the processing of received mail is told. */
import type { InboundMessage } from '../../store/schema/inbound.ts'

/** All but the octets and what processing adds. */
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

/** A message that is on disk now, with its octets unless they are in chunks; or others may be pending. */
export type InboundNotice = { row: StoredMessage; raw: Buffer | null } | 'changed'
