/**
 * A message on its way in: held in memory as it comes, as long as it may be kept. What turns out to
 * be refused is let go of at once and the rest of it only read past.
 *
 * All messages under way share one allowance, so that no number of clients fills the memory. A
 * buffer grows by doubling: what a chunk costs does not depend on how small it is.
 */
import { countHops } from '../mail/received.ts'
import { refusal, type SmtpRefusal } from './refusal.ts'

/** How much all messages under way may hold. `isSmall`: what is set aside for small ones counts. */
export type Allowance = {
  take(bytes: number, isSmall: boolean): boolean
  giveBack(bytes: number): void
}

export type IntakeOptions = { maxBytes: number; allowance: Allowance }

export type Intake = {
  write(chunk: Buffer): void
  /** The whole message. @throws SmtpRefusal */
  finish(): Buffer
  /** To be called in any case, when the message is needed no more. */
  release(): void
}

const FIRST_BYTES = 8 * 1024
/** Reports are: whoever holds on to large messages does not keep them out. */
const SMALL_BYTES = 256 * 1024
const MAX_HEADER_BYTES = 256 * 1024
/** As Postfix's hopcount_limit. */
const MAX_HOPS = 50
const CR = 0x0d
const LF = 0x0a

/** Of `bytes`, `reserve` for small messages only. */
export function createAllowance(bytes: number, reserve = 0): Allowance {
  let left = bytes
  return {
    take(wanted, isSmall) {
      if (wanted > left - (isSmall ? 0 : reserve)) return false
      left -= wanted
      return true
    },
    giveBack(given) {
      left += given
    },
  }
}

export function createIntake({ maxBytes, allowance }: IntakeOptions): Intake {
  const isBroken = createLineCheck()
  let held = Buffer.alloc(0)
  let size = 0
  let reason: SmtpRefusal | undefined

  function grow(wanted: number): boolean {
    const doubled = Math.max(FIRST_BYTES, held.length * 2, wanted)
    const capacity = Math.min(doubled, maxBytes)
    if (!allowance.take(capacity - held.length, capacity <= SMALL_BYTES)) return false
    const grown = Buffer.allocUnsafeSlow(capacity)
    held.copy(grown, 0, 0, size)
    held = grown
    return true
  }

  function release(): void {
    allowance.giveBack(held.length)
    held = Buffer.alloc(0)
    size = 0
  }

  function refuse(code: string, text: string): void {
    reason = refusal(code, text)
    release()
  }

  return {
    write(chunk) {
      if (reason !== undefined) return
      const wanted = size + chunk.length
      if (wanted > maxBytes) return refuse('552 5.3.4', `More than ${maxBytes} bytes`)
      if (isBroken(chunk)) return refuse('554 5.6.0', 'Lines must end in CRLF (RFC 5321 2.3.8)')
      if (wanted > held.length && !grow(wanted)) {
        return refuse('452 4.3.1', 'Too much mail at the moment, try again later')
      }
      size += chunk.copy(held, size)
    },
    finish() {
      if (reason !== undefined) throw reason
      const message = held.subarray(0, size)
      checkHeader(message)
      return message
    },
    release,
  }
}

/**
 * Whether a CR or LF stands alone, in this chunk or at the end of the last: what one server takes
 * for an end of line and the next does not is how mail is smuggled.
 */
function createLineCheck(): (chunk: Buffer) => boolean {
  let wasCr = false
  return (chunk) => {
    for (let index = 0; index < chunk.length; index += 1) {
      const octet = chunk[index]
      if ((octet === LF) !== wasCr) return true
      wasCr = octet === CR
    }
    return false
  }
}

/** @throws SmtpRefusal for a header section that is too large, and for a loop */
function checkHeader(message: Buffer): void {
  const end = message.indexOf('\r\n\r\n')
  const length = end === -1 ? message.length : end
  if (length > MAX_HEADER_BYTES) {
    throw refusal('552 5.3.4', `More than ${MAX_HEADER_BYTES} bytes of header`)
  }
  if (countHops(message.toString('latin1', 0, length)) > MAX_HOPS) {
    throw refusal('554 5.4.6', `More than ${MAX_HOPS} servers have seen this: a loop`)
  }
}
