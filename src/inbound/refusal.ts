/** The refusals of the listeners: SMTP replies (RFC 5321 section 4.2) with enhanced codes (RFC 3463). */
import { AppError } from '../base/errors.ts'
import type { Log } from '../base/log.ts'

/**
 * The most characters of a reply's text. RFC 5321 section 4.5.3.1.5 allows 512 octets, including the code
 * and the line end.
 */
const MAX_TEXT_LENGTH = 480

/** The error of a refusal: smtp-server replies with its `responseCode` and message. */
export class SmtpRefusal extends Error {
  override readonly name = 'SmtpRefusal'
  readonly responseCode: number

  constructor(code: string, text: string) {
    const [basic = '', enhanced = ''] = code.split(' ')
    super(`${enhanced} ${toReplyText(text)}`.slice(0, MAX_TEXT_LENGTH))
    this.responseCode = Number(basic)
  }
}

/** `code` as in `550 5.7.1`. */
export function refusal(code: string, text: string): SmtpRefusal {
  return new SmtpRefusal(code, text)
}

/** The refusal while the disk is full or cannot be written. */
export function cannotStore(): SmtpRefusal {
  return refusal('452 4.3.1', 'The server cannot store mail at the moment, try again later')
}

/** Turns a thrown value into a refusal. Faults of this program are logged and not shown. */
export function toRefusal(log: Log, error: unknown): SmtpRefusal {
  if (error instanceof SmtpRefusal) return error
  if (isGone(error)) return refusal('421 4.4.2', 'The connection broke')
  if (error instanceof AppError && error.status < 500) return refusal(error.smtp, textOf(error))
  const shown =
    error instanceof AppError ? error : new AppError('INTERNAL_SERVER_ERROR', 'Try again later.')
  if (!shown.isOverload) log.error({ error, code: shown.code }, 'a message could not be accepted')
  return refusal(shown.smtp, shown.message)
}

/** Whether the client left in the middle of a message, so that nobody reads the reply. */
export function isGone(error: unknown): boolean {
  if (!(error instanceof Error) || !('code' in error)) return false
  return error.code === 'ECONNECTION' || error.code === 'ERR_STREAM_PREMATURE_CLOSE'
}

/** A refusal of the sender says what to do. */
function textOf({ code, message, suggestion, fields = [] }: AppError): string {
  if (code === 'FORBIDDEN' && suggestion !== undefined) return `${message} ${suggestion}`
  const found = fields.map(({ field, message: text }) => `${field}: ${text}`)
  return found.length === 0 ? message : found.join('; ')
}

/** Replies are printable ASCII (RFC 5321 section 4.2). */
function toReplyText(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, '?')
}
