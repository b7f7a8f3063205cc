/**
 * A parsed message, as a reader thread of `inbound/` returns it. Messages are parsed in threads,
 * because a sender may have built one to crash or to block the parser; features apply the result.
 */
import type { AutomaticReason } from '../../../../formats/incoming/automatic.ts'
import type { IncomingHeader } from '../../../../formats/incoming/header.ts'
import type { IncomingMail } from '../../../../formats/incoming/read-message.ts'
import type { Report } from '../../../../formats/report/read-report.ts'

/**
 * A verdict on the sender in the words of Amazon SES, which clients of this API expect. GRAY:
 * neither pass nor fail.
 */
export type SenderVerdict = 'PASS' | 'FAIL' | 'GRAY' | 'PROCESSING_FAILED'

export type SenderVerdicts = { spf: SenderVerdict; dkim: SenderVerdict; dmarc: SenderVerdict }

export type UnparsedMessage = {
  raw: Uint8Array
  /** The reverse path; empty for the null reverse path. */
  reversePath: string
  clientAddress: string
  clientName: string
  /** Whether a mailbox is among the recipients. Then the body is parsed, too. */
  isMail: boolean
}

export type ReadMail = IncomingMail & {
  verdicts: SenderVerdicts
  /** Whether SPF or DKIM passes for the author's domain. */
  isAuthenticated: boolean
}

export type ParsedMessage = {
  report: Report
  header: IncomingHeader
  /** Why a machine seems to have sent the message; null for mail of a person. */
  automatic: AutomaticReason | null
  /** The parsed mail; null unless `isMail`. */
  mail: ReadMail | null
  /**
   * The octets that replace the received ones if these quote a link that this server mailed to one
   * of its users; otherwise null.
   */
  kept: Uint8Array | null
  durationMs: number
}

/**
 * The error when the reader thread ended while it had this message, perhaps because of the message.
 */
export class ReaderLost extends Error {
  override name = 'ReaderLost'
}

export type MessageReader = {
  /**
   * Parses a message. `isAlone`: the thread parses no other message at the same time.
   * @throws ReaderLost, Error when parsing failed
   */
  read(message: UnparsedMessage, options: { isAlone: boolean }): Promise<ParsedMessage>
}
