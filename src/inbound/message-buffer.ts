/**
 * Holds a message in memory while it is received. When the message must be refused, its memory is freed
 * at once and the rest of it is discarded.
 *
 * All messages being received share one allowance, so that many clients cannot fill the memory. The
 * memory of a message doubles up to a megabyte, then grows by a megabyte at a time. Each addition is a
 * block of its own, so a large message is not copied when it grows.
 */
import { countHops } from '../formats/incoming/received-field.ts'
import { MAX_HEADER_BYTES } from '../formats/limits.ts'
import { refusal, type SmtpRefusal } from './refusal.ts'

/**
 * The memory of all messages being received. `isSmall`: the message may use the reserve for small messages.
 */
export type MessageAllowance = {
  take(bytes: number, isSmall: boolean): boolean
  release(bytes: number): void
}

type MessageBufferOptions = {
  maxBytes: number
  allowance: MessageAllowance
  /** Makes each lone LF, which some programs write as a line end, a CRLF. */
  mendsLineEnds?: boolean
}

type MessageBuffer = {
  write(chunk: Buffer): void
  /** Returns the parts of the message in order. @throws SmtpRefusal */
  finish(): readonly Buffer[]
  /** Frees the memory; must be called for every message, refused or not. */
  release(): void
}

const FIRST_BYTES = 8 * 1024
const MAX_BLOCK_BYTES = 1024 * 1024
/**
 * Messages up to this size may use the reserve. Reports are smaller, so large messages cannot take
 * their memory.
 */
const SMALL_MESSAGE_BYTES = 256 * 1024
/** The default of Postfix's hopcount_limit. */
const MAX_HOPS = 50
const HEADER_END = '\r\n\r\n'
/**
 * Line ends of messages under way, across the pieces in which they arrive. Servers differ on whether a
 * lone CR or LF ends a line, and SMTP smuggling exploits the difference. Where a message ends is not
 * decided here: that is CRLF.CRLF alone (`data-reader.ts`).
 */
const CR = 0x0d
const LF = 0x0a
const CRLF = Buffer.from('\r\n')

/** `reserve`: the part of `bytes` that is for small messages only. */
export function createAllowance(bytes: number, reserve = 0): MessageAllowance {
  let left = bytes
  return {
    take(wanted, isSmall) {
      if (wanted > left - (isSmall ? 0 : reserve)) return false
      left -= wanted
      return true
    },
    release(bytes) {
      left += bytes
    },
  }
}

export function createMessageBuffer({
  maxBytes,
  allowance,
  mendsLineEnds = false,
}: MessageBufferOptions): MessageBuffer {
  const isBroken = createLineCheck()
  const mend = mendsLineEnds ? createLineMender() : (chunk: Buffer) => chunk
  let blocks: Buffer[] = []
  let capacity = 0
  let size = 0
  let reason: SmtpRefusal | undefined

  /** Returns false if the allowance is used up. */
  function put(chunk: Buffer): boolean {
    let rest = chunk
    while (rest.length > 0) {
      if (size === capacity && !addBlock(rest.length)) return false
      const block = blocks.at(-1) as Buffer
      const copied = rest.copy(block, block.length - (capacity - size))
      size += copied
      rest = rest.subarray(copied)
    }
    return true
  }

  function addBlock(wanted: number): boolean {
    const doubled = Math.max(FIRST_BYTES, Math.min(capacity, MAX_BLOCK_BYTES))
    const bytes = Math.min(Math.max(doubled, wanted), maxBytes - capacity)
    if (!allowance.take(bytes, capacity + bytes <= SMALL_MESSAGE_BYTES)) return false
    capacity += bytes
    blocks.push(Buffer.allocUnsafeSlow(bytes))
    return true
  }

  function release(): void {
    allowance.release(capacity)
    blocks = []
    capacity = 0
    size = 0
  }

  function refuse(code: string, text: string): void {
    reason = refusal(code, text)
    release()
  }

  return {
    write(received) {
      if (reason !== undefined) return
      const chunk = mend(received)
      if (size + chunk.length > maxBytes) return refuse('552 5.3.4', `More than ${maxBytes} bytes`)
      if (isBroken(chunk)) return refuse('554 5.6.0', 'Lines must end in CRLF (RFC 5321 2.3.8)')
      if (!put(chunk)) refuse('452 4.3.1', 'Too much mail at the moment, try again later')
    },
    finish() {
      if (reason !== undefined) throw reason
      const unused = capacity - size
      const parts = blocks.map((block, index) =>
        index === blocks.length - 1 ? block.subarray(0, block.length - unused) : block,
      )
      checkHeader(parts, size)
      return parts
    },
    release,
  }
}

/** @throws SmtpRefusal if the header section is too large or shows a loop */
function checkHeader(parts: readonly Buffer[], size: number): void {
  const longest = MAX_HEADER_BYTES + HEADER_END.length
  const beginning = Buffer.concat(parts, Math.min(size, longest))
  const end = beginning.indexOf(HEADER_END)
  if ((end === -1 ? size : end) > MAX_HEADER_BYTES) {
    throw refusal('552 5.3.4', `More than ${MAX_HEADER_BYTES} bytes of header`)
  }
  const header = beginning.toString('latin1', 0, end === -1 ? size : end)
  if (countHops(header) > MAX_HOPS) {
    throw refusal('554 5.4.6', `More than ${MAX_HOPS} Received fields: a loop`)
  }
}

/** Returns a function that finds a lone CR or LF. */
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

/** Returns a function that makes each lone LF a CRLF. A lone CR stays. */
function createLineMender(): (chunk: Buffer) => Buffer {
  let wasCr = false
  return (chunk) => {
    const wasCrBefore = wasCr
    if (chunk.length > 0) wasCr = chunk.at(-1) === CR
    const pieces: Buffer[] = []
    let at = 0
    for (let lf = chunk.indexOf(LF); lf !== -1; lf = chunk.indexOf(LF, lf + 1)) {
      if (lf === 0 ? wasCrBefore : chunk[lf - 1] === CR) continue
      pieces.push(chunk.subarray(at, lf), CRLF)
      at = lf + 1
    }
    return pieces.length === 0 ? chunk : Buffer.concat([...pieces, chunk.subarray(at)])
  }
}
