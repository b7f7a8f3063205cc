/**
 * What was read of a message that came in: by a thread of `inbound/`, since others wrote every octet
 * of it; applied by this room.
 */
import type { IncomingHeader } from '../../../mail/incoming/header.ts'
import type { IncomingMail } from '../../../mail/incoming/read-message.ts'
import type { Report } from '../../../mail/report/read-report.ts'

/** As Amazon SES words them, which clients know. GRAY: nothing was said for or against. */
export type SenderVerdict = 'PASS' | 'FAIL' | 'GRAY' | 'PROCESSING_FAILED'

export type SenderVerdicts = { spf: SenderVerdict; dkim: SenderVerdict; dmarc: SenderVerdict }

export type UnparsedMessage = {
  raw: Uint8Array
  /** Empty for the null reverse path. */
  reversePath: string
  clientAddress: string
  clientName: string
  /** Somebody will read it: a mailbox is among its recipients. */
  isMail: boolean
}

export type ReadMail = IncomingMail & {
  verdicts: SenderVerdicts
  /** SPF or DKIM speaks for the author's domain: the sender is who the message says. */
  isAuthenticated: boolean
}

export type ParsedMessage = {
  report: Report
  header: IncomingHeader
  /** Null unless it is mail. */
  mail: ReadMail | null
  durationMs: number
}

/** The thread ended with this message in hand, and perhaps because of it. */
export class ReaderLost extends Error {
  override name = 'ReaderLost'
}

export type MessageReader = {
  /**
   * `isAlone`: nothing else is read in the same thread meanwhile.
   * @throws ReaderLost, Error for what the thread could not do
   */
  read(message: UnparsedMessage, options: { isAlone: boolean }): Promise<ParsedMessage>
}
